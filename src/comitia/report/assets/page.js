// Draws the page from one document. `comitia.draw(document)` may be called again with a newer one: everything is
// updated in its place, and what the reader has sorted, filtered and chosen stays. Data become text nodes, never HTML.
"use strict";
const comitia = (() => {
  const byId = (id) => document.getElementById(id);
  const chosen = new Map(); // what the reader has chosen: sort, filter, selects, by name
  let doc = null;

  // ---- texts and elements -------------------------------------------------------------------------------------

  const number = (value, digits = 4) => {
    if (value === null || value === undefined) return "–";
    if (typeof value !== "number") return String(value);
    if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en");
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-4 || size >= 1e6)) return value.toExponential(2).replace("-", "−").replace("e−", "e−");
    return Number(value.toPrecision(digits)).toString().replace("-", "−");
  };
  const seconds = (value) => {
    if (value === null || value === undefined) return "–";
    if (value < 1) return `${number(value * 1000, 2)} ms`;
    if (value < 100) return `${number(value, 3)} s`;
    if (value < 6000) return `${Math.round(value / 60)} min`;
    return `${number(value / 3600, 3)} h`;
  };
  const plural = (n, one, many = one + "s") => `${number(n)} ${n === 1 ? one : many}`;

  function element(name, properties = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
      if (key === "class") made.className = value;
      else if (key === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
      else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  }
  const svg = (name, properties = {}, text = null) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(properties)) made.setAttribute(key, value);
    if (text !== null) made.textContent = text;
    return made;
  };

  // ---- tables -------------------------------------------------------------------------------------------------

  // columns: {key, title, kind: "n" | "text" | "name" | "settings" | "", show(value, row), header: is a row header}
  function table(name, { columns, rows, caption, filter = false, most = 25, mark = () => "", about = null, sort = null }) {
    const state = chosen.get(name) ?? { sort: sort ?? null, text: "", isWhole: false };
    chosen.set(name, state);
    const body = element("tbody");
    const count = element("span", { class: "count", role: "status" });
    const more = element("button", { type: "button", class: "quiet more", on: { click: () => { state.isWhole = !state.isWhole; fill(); } } });
    const heads = columns.map((column) => {
      const button = element("button", { type: "button", on: { click: () => {
        const isSame = state.sort && state.sort.key === column.key;
        const first = column.kind === "n" && !column.isSmallFirst ? -1 : 1;
        state.sort = { key: column.key, way: isSame ? -state.sort.way : first };
        fill();
      } } }, column.title);
      return element("th", { scope: "col", class: column.kind === "n" ? "n" : "" }, button);
    });
    const shownText = (column, row) => column.show ? column.show(row[column.key], row) : column.kind === "n" ? number(row[column.key]) : String(row[column.key] ?? "");
    const textOf = (column, row) => { const shown = shownText(column, row); return typeof shown === "string" ? shown : shown.textContent; };
    function fill() {
      const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
      let kept = rows.filter((row) => { const all = columns.map((c) => textOf(c, row)).join(" ").toLowerCase(); return words.every((word) => all.includes(word)); });
      if (state.sort) {
        const { key, way } = state.sort;
        const rank = (row) => row[key] === null || row[key] === undefined || row[key] === "" ? null : row[key];
        kept = kept.map((row, i) => [rank(row), i, row]).sort(([a, i], [b, j]) => {
          if (a === null || b === null) return (a === null) - (b === null) || i - j; // what is missing comes last
          return (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true })) * way || i - j;
        }).map(([, , row]) => row);
      }
      const visible = state.isWhole ? kept : kept.slice(0, most);
      body.replaceChildren(...visible.map((row) => element("tr", { class: mark(row) }, ...columns.map((column) => element(
        column.header ? "th" : "td", { class: column.kind ?? "", scope: column.header ? "row" : null }, shownText(column, row))))));
      heads.forEach((head, i) => head.setAttribute("aria-sort", state.sort && state.sort.key === columns[i].key ? (state.sort.way > 0 ? "ascending" : "descending") : "none"));
      const of = kept.length === rows.length ? "" : ` of ${number(rows.length)}`;
      count.textContent = `${plural(kept.length, "row")}${of}${visible.length < kept.length ? `, ${number(visible.length)} shown` : ""}${about ? ` · ${about}` : ""}`;
      more.hidden = kept.length <= most;
      more.textContent = state.isWhole ? "Show fewer" : `Show all ${number(kept.length)}`;
    }
    const search = filter && element("input", { type: "search", placeholder: "Filter", "aria-label": `Filter ${caption}`, value: state.text, id: `${name}-filter`, on: { input: (event) => { state.text = event.target.value; fill(); } } });
    fill();
    return element("div", { class: "tabled" },
      filter ? element("div", { class: "controls" }, search, count) : null,
      element("p", { class: "caption", id: `${name}-caption` }, caption),
      element("div", { class: "wide", tabindex: "0", role: "group", "aria-labelledby": `${name}-caption` }, element("table", { id: `${name}-table`, "aria-labelledby": `${name}-caption` }, element("thead", {}, element("tr", {}, ...heads)), body)),
      more, filter ? null : rows.length > most ? count : null);
  }

  // ---- figures ------------------------------------------------------------------------------------------------

  const figures = new Map(); // by name: {holder, make, isDrawn, isNear}
  const watcher = "IntersectionObserver" in window ? new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const figure = figures.get(entry.target.dataset.name);
      if (!figure || figure.holder !== entry.target) continue;
      figure.isNear = entry.isIntersecting;
      if (figure.isNear) paint(figure);
    }
  }, { rootMargin: "400px" }) : null;

  function theme() {
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(`--${name}`).trim();
    return { color, isDark: document.documentElement.dataset.theme === "dark", isNarrow: window.innerWidth < 640, font: color("sans") };
  }
  function paint(figure, isForced = false) {
    if (!window.Plotly || (figure.isDrawn && !isForced)) return;
    const { data, layout } = figure.make(theme());
    figure.isDrawn = true;
    figure.holder.classList.add("drawn");
    window.Plotly.react(figure.holder, data, comitiaFigures.layoutOf(theme(), layout), { displayModeBar: false, responsive: true, scrollZoom: false });
  }
  function paintAll(isForced = false) {
    for (const figure of figures.values()) if (figure.isNear || !watcher || isForced) paint(figure, true); else figure.isDrawn = false;
  }
  // A figure keeps its element between drawings; `make(theme)` returns {data, layout}, `alt` says in words what it shows.
  function figure(name, make, alt, caption) {
    const before = figures.get(name);
    const holder = before ? before.holder : element("div", { class: "plot", role: "img", "data-name": name });
    holder.setAttribute("aria-label", alt);
    const entry = { holder, make, isDrawn: false, isNear: before ? before.isNear : false };
    figures.set(name, entry);
    if (watcher) { watcher.unobserve(holder); watcher.observe(holder); } else paint(entry);
    if (entry.isNear) paint(entry, true);
    return element("figure", {}, holder, element("figcaption", {}, caption ?? alt));
  }
  function select(name, title, options, onChange) {
    const known = options.map((option) => option.value);
    if (!known.includes(chosen.get(name))) chosen.set(name, known[0]);
    return element("label", {}, title, element("select", { id: `${name}-select`, on: { change: (event) => { chosen.set(name, event.target.value); onChange(); } } },
      ...options.map((option) => element("option", { value: option.value, selected: option.value === chosen.get(name) ? "" : null }, option.text))));
  }

  // ---- the headline -------------------------------------------------------------------------------------------

  function ruler(estimate) {
    const values = [estimate.score, estimate.low, estimate.high, estimate.optimistic].filter((v) => v !== null);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const margin = (most - least || Math.abs(most) || 1) * 0.12;
    const width = theme().isNarrow ? 360 : 640;
    const x = (value) => 20 + ((width - 40) * (value - least + margin)) / (most - least + 2 * margin);
    const [low, high] = [estimate.low ?? least - margin, estimate.high ?? most + margin];
    const words = `90 % interval ${number(estimate.low)} to ${number(estimate.high)}, estimate ${number(estimate.score)}, optimistic validation score ${number(estimate.optimistic)}`;
    const drawn = svg("svg", { viewBox: `0 0 ${width} 78`, role: "img", "aria-label": words });
    drawn.append(
      svg("line", { x1: 20, x2: width - 20, y1: 40, y2: 40, class: "axis" }),
      svg("rect", { x: x(low), y: 32, width: Math.max(x(high) - x(low), 2), height: 16, rx: 3, class: "band" }),
      svg("line", { x1: x(low), x2: x(low), y1: 30, y2: 50, class: "end" }), svg("line", { x1: x(high), x2: x(high), y1: 30, y2: 50, class: "end" }),
      svg("circle", { cx: x(estimate.score), cy: 40, r: 6, class: "dot" }),
      svg("line", { x1: x(estimate.optimistic), x2: x(estimate.optimistic), y1: 26, y2: 54, class: "tick" }),
      svg("text", { x: x(low), y: 68, "text-anchor": "middle" }, number(estimate.low)),
      svg("text", { x: x(high), y: 68, "text-anchor": "middle" }, number(estimate.high)),
      svg("text", { x: x(estimate.optimistic), y: 18, "text-anchor": x(estimate.optimistic) > width - 80 ? "end" : "middle", class: "warm" }, `on validation rows ${number(estimate.optimistic)}`));
    return drawn;
  }
  function drawHeadline() {
    const head = doc.headline;
    const best = head.best && `${number(head.best.score)} (trial ${number(head.best.number)})`;
    byId("title").textContent = doc.title;
    byId("problem").hidden = !doc.problem;
    byId("problem").textContent = doc.problem ?? "";
    byId("lead").textContent = doc.lead ?? "";
    const estimate = head.estimate;
    const shown = estimate ? estimate.score : head.best && head.best.score;
    byId("score").hidden = shown === null || shown === undefined;
    byId("score-value").textContent = number(shown);
    byId("score-metric").textContent = estimate ? `${head.metric} expected on new rows` : `${head.metric} of the best trial so far`;
    byId("ruler").replaceChildren(...(estimate ? [ruler(estimate)] : []));
    byId("score-sentence").textContent = estimate
      ? `In 90 of 100 cases the true score is between ${number(estimate.low)} and ${number(estimate.high)}. The rows that chose the model say ${number(estimate.optimistic)}, which is optimistic. ${estimate.against_default}`
      : head.best && head.is_of_rows ? "The best of many, judged by the rows that chose it: optimistic." : "";
    const facts = [
      ["Trials", number(head.n_finished), [head.n_failed ? `${number(head.n_failed)} failed` : "none failed", head.n_pending ? `${number(head.n_pending)} ${head.state === "finished" ? "stopped or left out at the end" : "not finished"}` : null]],
      head.fit_seconds || head.trial_seconds ? ["Time", seconds(head.fit_seconds ?? head.trial_seconds), [head.fit_seconds === null ? "of all trials, added up" : `trials, added up: ${seconds(head.trial_seconds)}`]] : null,
      head.returned ? ["Returned", head.returned, []] : null,
      best ? ["Best single trial", best, head.is_of_rows ? ["on validation rows, optimistic"] : []] : null,
      ...Object.entries(head.validation_scores ?? {}).map(([name, score]) => [name, number(score), ["on validation rows"]]),
    ].filter(Boolean);
    byId("facts").replaceChildren(...facts.map(([title, value, notes]) => element("div", {}, element("dt", {}, title), element("dd", {}, value, ...notes.filter(Boolean).map((note) => element("small", {}, note))))));
  }

  // ---- sections: each returns its nodes, or null where there is nothing to say ---------------------------------

  const sections = {
    committee() {
      const found = doc.committee;
      if (!found) return null;
      const most = Math.max(...found.rows.map((row) => row.weight));
      const bar = (weight) => { const made = element("span", {}, element("span", { class: "weight" }), number(weight, 2)); made.firstChild.style.width = `${(4 * weight) / most}rem`; return made; };
      const signed = (value) => (value === null ? "–" : `${value > 0 ? "+" : ""}${number(value, 3)}`);
      const columns = [
        { key: "learner", title: "Learner", kind: "name", header: true },
        { key: "weight", title: "Weight", kind: "n", show: bar },
        { key: "score", title: `${found.metric} alone`, kind: "n" },
        { key: "adds", title: "Adds", kind: "n", show: signed },
        { key: "predict_seconds", title: "Predict 1,000 rows", kind: "n", show: seconds },
        found.has_temperatures ? { key: "temperature", title: "Temperature", kind: "n", show: (value) => number(value, 3) } : null,
        { key: "number", title: "Trial", kind: "n", isSmallFirst: true },
        { key: "settings", title: "Settings", kind: "settings" },
      ].filter(Boolean);
      const total = found.predict_seconds === null ? "" : ` All together take ${seconds(found.predict_seconds)} to predict 1,000 rows.`;
      return [
        table("members", { columns, rows: found.rows, caption: `Members, the heaviest first. Together: ${found.metric} ${number(found.score)} on validation rows, optimistic.${total}` }),
        element("p", { class: "about" }, found.rows.length > 1 ? "“Adds” is what the score on validation rows loses if the member is left out and the others share its weight. Near zero, or below, is common: members replace each other, and a committee is chosen by its probabilities or numbers, which a metric may not show." : ""),
        found.correlation && figure("correlation", (t) => comitiaFigures.correlation(doc, t), "Correlation of the errors of each two members.",
          `Correlation of the errors of each two members over ${number(found.correlation.n_rows)} validation rows. A committee gains by members whose errors differ.`),
      ];
    },
    choices() {
      const found = doc.choices;
      if (!found || found.kinds.length < 2) return null;
      const sign = doc.headline.is_greater_better;
      const rows = found.kinds.map((kind, i) => ({ kind, n: found.total[i], seconds: found.seconds[i], best: found.best[i] }));
      return [
        figure("choices", (t) => comitiaFigures.choices(doc, t), `Share of trials of each ${found.name} over the search.`, `Share of each ${found.name} in stretches of trials, from the first to the last.`),
        table("kinds", { columns: [{ key: "kind", title: found.name, header: true, kind: "name" }, { key: "n", title: "Trials", kind: "n" }, { key: "seconds", title: "Seconds in all", kind: "n", show: (v) => seconds(v) }, { key: "best", title: `Best ${doc.headline.metric}`, kind: "n" }], rows, caption: `Each ${found.name} by what it took and gave`, sort: { key: "best", way: sign ? -1 : 1 } }),
      ];
    },
    diagnostics() {
      const found = doc.diagnostics;
      if (!found) return null;
      const side = element("div", { class: "side" });
      const rows = `${number(found.n_rows)} validation rows`;
      if (found.kind === "classes") {
        side.append(figure("confusion", (t) => comitiaFigures.confusion(doc, t), "Confusion matrix: true classes by predicted classes.", `Of ${rows}: each line is a true class, shares are of that line.`));
        if (found.roc && found.roc.length) side.append(figure("roc", (t) => comitiaFigures.roc(doc, t), `ROC curves. ${found.roc.map((one) => `${one.label}: area ${number(one.area)}`).join(", ")}`, found.roc.length > 1 ? "ROC of each class against all others, with its area." : `ROC of “${found.roc[0].label}”, area ${number(found.roc[0].area)}.`));
        if (found.calibration && found.calibration.length) side.append(figure("calibration", (t) => comitiaFigures.calibration(doc, t), "Calibration: how often a class is true, by the probability that was said.", "Calibration in ten groups of equally many rows, with 90 % intervals for two classes. On the dotted line probabilities mean what they say."));
      } else {
        side.append(
          figure("predicted", (t) => comitiaFigures.predicted(doc, t), "True numbers by predicted numbers.", `${found.n_drawn < found.n_rows ? `${number(found.n_drawn)} of ` : ""}${rows}. On the dotted line predictions are right.`),
          figure("residuals", (t) => comitiaFigures.histogram(found.counts, found.edges, "true minus predicted", t), "Histogram of residuals.", `Residuals: 90 of 100 are between ${number(found.low)} and ${number(found.high)}, the median is ${number(found.median)}.`));
      }
      if (found.by_fold) side.append(figure("folds", (t) => comitiaFigures.folds(doc, t), "Error in each fold.", "Each fold with its 90 % interval. Folds that differ by more than these are a sign of drift."));
      return [side];
    },
    columns() {
      const found = doc.columns;
      if (found === undefined) return null;
      if (found === null) return [element("p", {}, "Not known: a model keeps neither its rows nor the models of its folds, and rows that it was fitted on would show what it has learned by heart. Give labelled rows that it has not seen: "), element("pre", {}, 'comitia report model/ --test test.csv\nmodel.report("report.html", X=X_test, y=y_test)')];
      return [
        element("p", {}, `On ${plural(found.n_rows, "row")} that were given for this page the ${found.metric} is ${number(found.score)}.${found.n_shuffled < found.n_rows ? ` Columns were shuffled in ${number(found.n_shuffled)} of them.` : ""}`),
        figure("columns", (t) => comitiaFigures.columns(doc, t), "Score that is lost by shuffling each column.", "With the interval that 90 of 100 other tables of as many rows would give. Columns that say the same share their importance."),
        table("column-table", { columns: [{ key: "column", title: "Column", header: true, kind: "name" }, { key: "importance", title: `${found.metric} lost`, kind: "n" }, { key: "low", title: "From", kind: "n" }, { key: "high", title: "To", kind: "n" }], rows: found.rows, caption: found.rows.length < found.n_columns ? `The first ${number(found.rows.length)} of ${number(found.n_columns)} columns` : "All columns", most: 10 }),
      ];
    },
    importance() {
      const found = doc.importance;
      if (!found) return null;
      const options = found.groups.map((group) => ({ value: group.kind, text: group.kind === "" ? "the whole space" : group.kind }));
      const controls = options.length > 1 ? element("div", { class: "controls" }, select("within", "Within", options, redraw("importance"))) : null;
      const group = found.groups.find((one) => one.kind === (chosen.get("within") ?? options[0].value)) ?? found.groups[0];
      const words = group.names.slice(0, 3).map((name, i) => `${name} ${number(100 * group.shares[i], 2)} %`).join(", ");
      return [controls, figure("importance", (t) => comitiaFigures.importance(group, t), `Share of the variance that each hyperparameter explains alone: ${words}.`,
        `By ${plural(group.n, "trial")}. A share is what a hyperparameter explains alone, over all values of the others; where it is inactive it explains nothing. Trials that are far worse than most are clipped, so that shares are about what tells good from middling.`)];
    },
    space() {
      const found = doc.space;
      if (!found || !found.hyperparameters.length) return null;
      const kinds = found.kinds.map((kind) => ({ value: kind, text: kind === "" ? "all" : kind }));
      const best = found.score.reduce((a, score, i) => (doc.headline.is_greater_better ? score > found.score[a] : score < found.score[a]) ? i : a, 0);
      if (!chosen.has("kind") && kinds.length > 1) chosen.set("kind", found.kinds[found.kind[best]]);
      const ranked = doc.importance ? doc.importance.groups[0].names : [];
      const place = (name) => { const at = ranked.indexOf(name); return at < 0 ? ranked.length : at; };
      const names = found.hyperparameters.map((one) => one.name).sort((a, b) => place(a) - place(b)).map((name) => ({ value: name, text: name }));
      const bySlice = select("slice", "Setting", names, redraw("space"));
      const byKind = kinds.length > 1 ? select("kind", found.branch, kinds, redraw("space")) : null;
      if (kinds.length === 1) chosen.set("kind", kinds[0].value);
      return [
        element("h3", {}, "One setting at a time"), element("div", { class: "controls" }, bySlice),
        figure("slice", (t) => comitiaFigures.slice(doc, chosen.get("slice"), t), `Score by ${chosen.get("slice")}.`, "Each dot is a trial in which the setting was active."),
        element("h3", {}, "All settings together"), byKind ? element("div", { class: "controls" }, byKind) : null,
        figure("parallel", (t) => comitiaFigures.parallel(doc, chosen.get("kind"), t), "Parallel coordinates: one line per trial over one axis for each setting.", "One line per trial, from setting to setting to its score; each axis shows the range that is searched, logarithmic where it is searched so."),
      ];
    },
    posterior() {
      const found = doc.posterior;
      if (!found) return null;
      const side = element("div", { class: "side" });
      found.curves.forEach((curve, i) => side.append(figure(`posterior-${i}`, (t) => comitiaFigures.posterior(doc, curve, t), `Expected ${doc.headline.metric} by ${curve.name}, with a 90 % interval.`, "")));
      return [element("p", { class: "about" }, `By ${plural(found.n, "trial")} in the branch of trial ${number(found.number)} (dotted: its settings); the band holds 90 of 100 cases.${found.curves.length < found.n_curves ? ` The ${found.curves.length} of ${found.n_curves} settings that matter most there.` : ""}`), side];
    },
    data() {
      const found = doc.data;
      if (!found) return null;
      const warnings = found.warnings.length ? element("ul", { class: "warnings" }, ...found.warnings.slice(0, 30).map((one) => element("li", {}, one.text))) : element("p", { class: "fine" }, "Nothing suspicious: no column gives the target away, no copies of rows, no tiny class, no drift between folds.");
      const columns = [
        { key: "name", title: "Column", header: true, kind: "name" }, { key: "kind", title: "Kind" },
        { key: "missing", title: "Missing", kind: "n", show: (value) => (value ? `${number(100 * value, 2)} %` : "") },
        { key: "distinct", title: "Different values", kind: "n" },
        { key: "alone", title: "Predicts alone", kind: "n", show: (value) => `${number(100 * value, 2)} %` },
        { key: "values", title: "Values", kind: "settings" },
      ];
      const target = found.target.kind === "classes"
        ? table("classes", { columns: [{ key: "label", title: "Class", header: true, kind: "name" }, { key: "n", title: "Rows", kind: "n" }, { key: "share", title: "Share", kind: "n", show: (value) => `${number(100 * value, 3)} %` }], rows: found.target.labels.map((label, i) => ({ label, n: found.target.counts[i], share: found.target.counts[i] / found.n_rows })), caption: "Classes of the target", most: 10 })
        : figure("target", (t) => comitiaFigures.histogram(found.target.counts, found.target.edges, "target", t), "Histogram of the target.", `The target: from ${number(found.target.low)} to ${number(found.target.high)}, median ${number(found.target.median)}.`);
      const looked = found.n_looked_at < found.n_rows ? ` ${number(found.n_looked_at)} rows were looked at.` : "";
      return [
        element("p", {}, `${plural(found.n_rows, "row")}, ${plural(found.n_columns, "column")}, ${number(100 * found.missing, 2)} % of the values missing.${looked}`), warnings, target,
        table("columns-of-data", { columns, rows: found.columns, caption: "Columns. “Predicts alone” is the part of the error of a guess that a column removes by itself", filter: found.columns.length > 10, most: 12, about: found.columns.length < found.n_columns ? `the first of ${number(found.n_columns)}` : null }),
      ];
    },
    failures() {
      const found = doc.failures;
      if (!found) return null;
      const reasons = table("reasons", { columns: [{ key: "n", title: "Times", kind: "n" }, { key: "status", title: "Status" }, { key: "error", title: "Reason", kind: "text" }], rows: found.reasons, caption: `${plural(found.n, "trial")} failed, by reason`, most: 10 });
      const columns = [{ key: "number", title: "Trial", kind: "n" }, found.has_learners ? { key: "learner", title: "Learner", kind: "name" } : null, { key: "status", title: "Status" }, { key: "seconds", title: "Seconds", kind: "n" }, { key: "error", title: "Error", kind: "text" }, { key: "settings", title: "Settings", kind: "settings" }].filter(Boolean);
      return [reasons, table("failed", { columns, rows: found.rows, caption: "Failed trials, the newest first", filter: true, most: 10, about: found.rows.length < found.n ? `the newest of ${number(found.n)}` : null })];
    },
    reproduce() {
      const found = doc.reproduce;
      if (!found) return null;
      const list = element("dl", { class: "facts" }, ...found.facts.map((fact) => element("div", {}, element("dt", {}, fact.name), element("dd", {}, fact.value))));
      const older = found.versions.filter((one) => one.begun !== one.version).map((one) => `${one.name} ${one.begun}`);
      return [
        found.command ? element("pre", {}, found.command) : null, found.code ? element("pre", {}, found.code) : null,
        element("p", { class: "about" }, found.is_exact ? "The same call on the same rows with the same versions gives the same result." : "For exactly the same result a fit needs a seed, one worker and a number of trials instead of seconds; otherwise it depends a little on which trial ends first."),
        list,
        found.parameters.length ? table("parameters", { columns: [{ key: "name", title: "Parameter", header: true }, { key: "value", title: "Value", kind: "settings" }], rows: found.parameters, caption: "Parameters that are not the defaults", most: 50 }) : null,
        table("versions", { columns: [{ key: "name", title: "Package", header: true }, { key: "version", title: "Version here" }, { key: "begun", title: "When the study was begun" }], rows: found.versions, caption: older.length ? `Versions; the study was begun with others: ${older.join(", ")}` : "Versions", most: 50 }),
      ];
    },
    scores() {
      const found = doc.scores;
      if (!found.n_finished) return null;
      const thinned = found.n_drawn < found.n_finished ? ` ${number(found.n_drawn)} of ${number(found.n_finished)} trials are drawn, the best and the newest among them.` : "";
      const by = chosen.get("by") ?? "number";
      const label = by === "number" ? "number of the trial" : "seconds of all trials, added up";
      return [
        element("div", { class: "controls" }, select("by", "Horizontal axis", [{ value: "number", text: "trials" }, { value: "elapsed", text: "seconds" }], redraw("scores"))),
        figure("scores", (t) => comitiaFigures.scores(doc, by, t), `Score of each trial by ${label}, the best so far as a line.`,
          `Each dot is a trial${doc.headline.is_of_rows ? " on its validation rows" : ""}; the line is the best so far.${doc.path ? " The other two lines are of what would have been returned then: its score on validation rows, and the honest estimate for new rows. The shaded gap between them is what choosing by the same rows adds." : ""}${thinned}`),
      ];
    },
    leaderboard() {
      const found = doc.leaderboard;
      if (!found.rows.length) return null;
      const columns = [
        { key: "rank", title: "Rank", kind: "n", isSmallFirst: true },
        { key: "number", title: "Trial", kind: "n", isSmallFirst: true },
        found.has_learners ? { key: "learner", title: found.learner_name === "learner" ? "Learner" : found.learner_name, kind: "name" } : null,
        { key: "score", title: found.score_name, kind: "n" },
        ...found.metrics.map((name) => ({ key: `metric:${name}`, title: name, kind: "n" })),
        found.has_weights ? { key: "weight", title: "Weight", kind: "n", show: (value) => value ? number(value, 2) : "" } : null,
        { key: "seconds", title: "Seconds", kind: "n", show: (value) => number(value, 3) },
        found.has_predict_seconds ? { key: "predict_seconds", title: "Predict 1,000 rows", kind: "n", show: (value) => value === null ? "" : seconds(value) } : null,
        { key: "settings", title: "Settings", kind: "settings" },
      ].filter(Boolean);
      const about = found.rows.length < found.n_all ? `the best of ${number(found.n_all)} trials` : null;
      return [table("leaderboard", { columns, rows: found.rows, caption: "Trials that succeeded, the best first", filter: true, about, most: 15, mark: (row) => row.weight ? "member" : "" })];
    },
  };

  const redraw = (name) => () => drawSection(name);
  function drawSection(name) {
    const section = byId(name);
    const nodes = doc && sections[name] ? sections[name]() : null;
    section.hidden = !nodes;
    if (!nodes) return;
    const about = byId(`${name}-about`);
    about.textContent = doc.headline.is_of_rows ? about.dataset.rows : about.dataset.functions;
    const content = byId(`${name}-content`);
    const focused = document.activeElement && content.contains(document.activeElement) ? document.activeElement : null;
    const [id, at] = focused ? [focused.id, focused.selectionStart] : ["", null];
    content.replaceChildren(...nodes.filter(Boolean));
    const again = id && byId(id);
    if (again) { again.focus({ preventScroll: true }); if (at !== null && again.setSelectionRange) again.setSelectionRange(at, at); }
  }
  function drawContents() {
    const shown = [...document.querySelectorAll("main > section")].filter((section) => !section.hidden && section.id !== "headline");
    byId("contents").replaceChildren(...shown.map((section) => element("a", { href: `#${section.id}` }, section.dataset.short)));
  }
  function draw(newer) {
    doc = newer;
    drawHeadline();
    for (const section of document.querySelectorAll("main > section")) if (section.id !== "headline") drawSection(section.id);
    drawContents();
    byId("footer").textContent = `Made by comitia${doc.version ? ` ${doc.version}` : ""} on ${new Date(doc.made_at).toLocaleString("en-GB", { dateStyle: "long", timeStyle: "short" })}. This page is complete in itself and loads nothing from the network.`;
  }

  // ---- light and dark, printing -------------------------------------------------------------------------------

  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const remembered = () => { try { return localStorage.getItem("comitia-theme"); } catch { return null; } };
  function setTheme(name) {
    document.documentElement.dataset.theme = name;
    byId("theme").textContent = name === "dark" ? "Light" : "Dark";
    paintAll();
  }
  function start() {
    setTheme(remembered() ?? (prefersDark.matches ? "dark" : "light"));
    prefersDark.addEventListener("change", () => { if (!remembered()) setTheme(prefersDark.matches ? "dark" : "light"); });
    byId("theme").addEventListener("click", () => {
      const name = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
      try { localStorage.setItem("comitia-theme", name); } catch { /* a page from a file may not remember */ }
      setTheme(name);
    });
    let before = "light";
    window.addEventListener("beforeprint", () => { before = document.documentElement.dataset.theme; setTheme("light"); paintAll(true); });
    window.addEventListener("afterprint", () => setTheme(before));
    draw(JSON.parse(byId("document").textContent));
  }
  // for pages that are served: a few newer facts, before there is a newer document
  function amend(headline) {
    Object.assign(doc.headline, headline);
    drawHeadline();
  }
  return { draw, amend, start, paintAll, drawContents, tools: { element, table, number, seconds }, settings: () => JSON.parse(byId("settings").textContent) };
})();
comitia.start();
