// Figures of the page: functions of the document and the theme that return plotly's data and layout. No element of the
// page is touched here. Texts that come from data pass through `text`, because plotly reads some HTML in labels.
"use strict";
const comitiaFigures = (() => {
  const PALETTE = ["#3b78c3", "#d9822b", "#2a9d78", "#b85c9e", "#8a6fc9", "#c9a227", "#4bb3c4", "#c25450", "#7d8a97", "#6b8e3d"];
  const text = (value) => String(value ?? "").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const short = (value, most = 28) => { const plain = String(value ?? ""); return text(plain.length > most ? `${plain.slice(0, most - 1)}…` : plain); };
  const color = (i) => PALETTE[i % PALETTE.length];

  function layoutOf(theme, own) {
    const axis = { gridcolor: theme.color("line"), linecolor: theme.color("line"), zerolinecolor: theme.color("line"), tickcolor: theme.color("line"), automargin: true, exponentformat: "power", title: { standoff: 10 } };
    const made = {
      font: { family: theme.font, size: 13, color: theme.color("soft") }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 50, r: 10, t: 12, b: 40 }, height: theme.isNarrow ? 340 : 380, autosize: true, hovermode: "closest", dragmode: false,
      hoverlabel: { bgcolor: theme.color("raised"), bordercolor: theme.color("line"), font: { color: theme.color("ink"), family: theme.font, size: 13 }, align: "left" },
      legend: { orientation: "h", ...(theme.isNarrow ? { yref: "container", y: 0, yanchor: "bottom" } : { y: 1.02, yanchor: "bottom" }), x: 0, font: { size: 12 }, traceorder: "normal", itemclick: "toggle", itemdoubleclick: "toggleothers" },
      colorway: PALETTE, ...own,
    };
    for (const name of Object.keys(made).filter((key) => /^[xy]axis\d*$/.test(key)).concat(["xaxis", "yaxis"])) made[name] = { ...axis, ...(made[name] ?? {}), fixedrange: true };
    return made;
  }

  // Scores that are far worse than most would press the others into a line: the axis shows the better nine tenths.
  function rangeOf(values, isGreaterBetter, also = []) {
    const known = values.filter((v) => v !== null && Number.isFinite(v)).sort((a, b) => a - b);
    if (known.length < 12) return undefined;
    const at = (share) => known[Math.round(share * (known.length - 1))];
    const all = [isGreaterBetter ? at(0.2) : known[0], isGreaterBetter ? known[known.length - 1] : at(0.8), ...also.filter((v) => v !== null)];
    const [low, high] = [Math.min(...all), Math.max(...all)];
    if (high - low <= 0 || (known[known.length - 1] - known[0]) < 2 * (high - low)) return undefined;
    const margin = (high - low) * 0.08;
    return [low - margin, high + margin];
  }
  // Says how many are not shown by such an axis.
  function leftOut(values, range, isGreaterBetter, theme) {
    const n = range ? values.filter((v) => v !== null && (v < range[0] || v > range[1])).length : 0;
    return n ? [{ xref: "paper", yref: "paper", x: 1, y: isGreaterBetter ? 0.02 : 0.98, xanchor: "right", yanchor: isGreaterBetter ? "bottom" : "top", showarrow: false, text: `${n} worse beyond the axis ${isGreaterBetter ? "↓" : "↑"}`, font: { size: 12, color: theme.color("soft") }, bgcolor: theme.color("paper") }] : [];
  }
  // Decades of a logarithmic axis as plain numbers, at most about five of them.
  const decades = (values) => ({ type: "log", tickformat: "~g", dtick: Math.max(1, Math.ceil(Math.log10(Math.max(...values) / Math.min(...values)) / 5)) });

  function scores(doc, by, theme) {
    const found = doc.scores, head = doc.headline, isNumber = by === "number";
    const x = isNumber ? found.number : found.elapsed;
    const data = found.kinds.map((kind, k) => {
      const places = found.kind.map((code, i) => (code === k && found.score[i] !== null ? i : -1)).filter((i) => i >= 0);
      return { type: "scatter", mode: "markers", name: kind === "" ? "trial" : short(kind), x: places.map((i) => x[i]), y: places.map((i) => found.score[i]),
        marker: { color: color(k), size: 6, opacity: 0.65, line: { width: 0 } }, customdata: places.map((i) => [found.number[i], found.seconds[i]]),
        hovertemplate: `${kind === "" ? "" : `${text(kind)}<br>`}trial %{customdata[0]}<br>${text(head.metric)} %{y:.5g}<br>%{customdata[1]:.3g} s<extra></extra>` };
    });
    const end = isNumber ? found.last_number : found.total_seconds;
    data.push({ type: "scatter", mode: "lines", name: "best so far", x: [...(isNumber ? found.best_number : found.best_elapsed), end], y: [...found.best_score, found.best_score.at(-1)],
      line: { shape: "hv", color: theme.color("faint"), width: 1.5 }, hoverinfo: "skip" });
    const also = [];
    if (doc.path) {
      const at = isNumber ? doc.path.number : doc.path.elapsed;
      also.push(...doc.path.optimistic, ...doc.path.estimate);
      data.push({ type: "scatter", mode: "lines", name: "validation rows", x: at, y: doc.path.optimistic, line: { color: theme.color("warm"), width: 2 }, hovertemplate: "validation rows %{y:.5g}<extra></extra>" });
      data.push({ type: "scatter", mode: "lines+markers", name: "honest estimate", x: at, y: doc.path.estimate, line: { color: theme.color("accent"), width: 2.5 }, marker: { size: 6 },
        fill: "tonexty", fillcolor: theme.isDark ? "rgba(235,162,114,.16)" : "rgba(179,84,30,.10)", hovertemplate: "honest estimate %{y:.5g}<extra></extra>" });
    }
    const range = rangeOf(found.score, head.is_greater_better, also);
    return { data, layout: { annotations: leftOut(found.score, range, head.is_greater_better, theme), xaxis: { title: { text: isNumber ? "trial" : "seconds of trials, added up" }, rangemode: "tozero" }, yaxis: { title: { text: text(head.metric) }, range } } };
  }

  // ---- what was returned --------------------------------------------------------------------------------------

  const shades = (theme) => theme.isDark
    ? [[0, "#1a1e25"], [0.5, "#2c4d7c"], [1, "#8fbcf8"]] : [[0, "#f4f7fb"], [0.5, "#9dc0ea"], [1, "#1f5fbf"]];
  const inkOn = (share, theme) => share > 0.55 ? (theme.isDark ? "#12151a" : "#ffffff") : theme.color("ink");
  // A table of numbers as a map of colours, with the numbers in it where there is room.
  function heat(x, y, z, shown, theme, { low, high, xTitle, yTitle, size }) {
    const span = high - low || 1;
    const notes = size <= 12 ? z.flatMap((row, i) => row.map((value, j) => ({ x: j, y: i, text: shown[i][j], showarrow: false, font: { size: theme.isNarrow ? 10 : 12, color: inkOn(((value ?? low) - low) / span, theme) } }))) : [];
    const ticks = (labels) => ({ tickmode: "array", tickvals: labels.map((_, i) => i), ticktext: labels.map((label) => short(label, theme.isNarrow ? 10 : 18)), showgrid: false, zeroline: false });
    return { data: [{ type: "heatmap", z, colorscale: shades(theme), zmin: low, zmax: high, showscale: false, xgap: 2, ygap: 2, text: shown, customdata: y.map((a) => x.map((b) => [text(a), text(b)])), hovertemplate: "%{customdata[0]}<br>%{customdata[1]}<br>%{text}<extra></extra>" }],
      layout: { annotations: notes, height: Math.min(560, Math.max(240, 90 + 44 * size)), xaxis: { ...ticks(x), title: { text: xTitle }, side: "bottom" }, yaxis: { ...ticks(y), autorange: "reversed", title: { text: yTitle, standoff: 18 } } } };
  }
  function correlation(doc, theme) {
    const found = doc.committee.correlation;
    const labels = found.numbers.map((number) => { const row = doc.committee.rows.find((one) => one.number === number); return `${row.learner} ${number}`; });
    const shown = found.values.map((row) => row.map((value) => (value === null ? "–" : value.toFixed(2))));
    return heat(labels, labels, found.values, shown, theme, { low: 0, high: 1, xTitle: "", yTitle: "", size: labels.length });
  }

  // ---- the search ---------------------------------------------------------------------------------------------

  function choices(doc, theme) {
    const found = doc.choices;
    const middle = found.first.map((first, i) => (first + found.last[i]) / 2);
    const data = found.kinds.map((kind, k) => ({ type: "bar", name: short(kind || "(none)"), x: middle, y: found.counts.map((row) => row[k] / row.reduce((a, b) => a + b, 0)), width: found.first.map((first, i) => found.last[i] - first + 1),
      marker: { color: color(k), line: { width: 0.5, color: theme.color("paper") } }, customdata: found.first.map((first, i) => [first, found.last[i], found.counts[i][k]]),
      hovertemplate: `${text(kind)}: %{customdata[2]} of trials %{customdata[0]} to %{customdata[1]}<extra></extra>` }));
    return { data, layout: { barmode: "stack", bargap: 0, xaxis: { title: { text: "trial" }, showgrid: false }, yaxis: { title: { text: "share of trials" }, tickformat: ".0%", range: [0, 1] }, height: theme.isNarrow ? 340 : 320 } };
  }
  function bars(names, values, theme, { title, errors = null, format = "%{x:.3g}" }) {
    const height = 70 + 26 * names.length;
    return { data: [{ type: "bar", orientation: "h", y: names.map((_, i) => i), x: values, marker: { color: theme.color("accent") }, customdata: names.map(text), hovertemplate: `%{customdata}<br>${format}<extra></extra>`,
      error_x: errors ? { type: "data", symmetric: false, array: errors.high, arrayminus: errors.low, color: theme.color("soft"), thickness: 1.2, width: 3 } : undefined }],
      layout: { height, bargap: 0.35, margin: { l: 10, r: 14, t: 6, b: 40 }, xaxis: { title: { text: title }, rangemode: "tozero", zeroline: true }, yaxis: { tickmode: "array", tickvals: names.map((_, i) => i), ticktext: names.map((name) => short(name, theme.isNarrow ? 20 : 36)), autorange: "reversed", showgrid: false } } };
  }
  function importance(group, theme) {
    const kept = group.names.slice(0, 15);
    const figure = bars([...kept, "several together"], [...group.shares.slice(0, 15), group.rest], theme, { title: "share of the variance", format: "%{x:.1%}" });
    figure.data[0].marker = { color: [...kept.map(() => theme.color("accent")), theme.color("faint")] };
    figure.layout.xaxis.tickformat = ".0%";
    return figure;
  }
  function columns(doc, theme) {
    const rows = doc.columns.rows.slice(0, 25);
    return bars(rows.map((row) => row.column), rows.map((row) => row.importance), theme, { title: `${text(doc.columns.metric)} lost`, errors: { high: rows.map((r) => Math.max(0, (r.high ?? r.importance) - r.importance)), low: rows.map((r) => Math.max(0, r.importance - (r.low ?? r.importance))) } });
  }

  // ---- the space ----------------------------------------------------------------------------------------------

  function slice(doc, name, theme) {
    const found = doc.space, one = found.hyperparameters.find((h) => h.name === name);
    const data = found.kinds.map((kind, k) => {
      const some = one.places.map((place, i) => (found.kind[place] === k ? [place, i] : null)).filter(Boolean);
      return { type: "scatter", mode: "markers", name: kind === "" ? "trial" : short(kind), x: some.map(([, i]) => (one.is_number ? one.values[i] : short(one.values[i]))), y: some.map(([place]) => found.score[place]),
        marker: { color: color(doc.scores.kinds.indexOf(kind)), size: 7, opacity: 0.7 }, customdata: some.map(([place]) => found.number[place]), hovertemplate: `trial %{customdata}<br>%{x}<br>${text(doc.headline.metric)} %{y:.5g}<extra></extra>` };
    }).filter((trace) => trace.x.length);
    const scores = data.flatMap((trace) => trace.y), isGreaterBetter = doc.headline.is_greater_better, range = rangeOf(scores, isGreaterBetter);
    const axis = one.is_log ? decades([one.low, one.high]) : { type: one.is_number ? "linear" : "category" };
    return { data, layout: { annotations: leftOut(scores, range, isGreaterBetter, theme), showlegend: data.length > 1 && name !== found.branch, xaxis: { ...axis, title: { text: short(name, 40) } }, yaxis: { title: { text: text(doc.headline.metric) }, range } } };
  }
  // Lines over one axis for each setting; each axis runs from 0 to 1. The best tenth stands out.
  function parallel(doc, kind, theme) {
    const found = doc.space, k = found.kinds.indexOf(kind);
    const places = found.kind.map((code, i) => (code === k ? i : -1)).filter((i) => i >= 0);
    const axes = found.hyperparameters.filter((one) => one.name !== found.branch && one.places.some((place) => found.kind[place] === k));
    const scaled = axes.map((one) => {
      const at = new Map(one.places.map((place, i) => [place, one.values[i]]));
      if (!one.is_number) {
        const names = [...new Set(one.values)].sort();
        return { place: (p) => (at.has(p) ? (names.length > 1 ? names.indexOf(at.get(p)) / (names.length - 1) : 0.5) : null), low: names[0], high: names.at(-1) };
      }
      const f = one.is_log ? Math.log : (v) => v;
      const [low, high] = [f(one.low), f(one.high)];
      return { place: (p) => (at.has(p) ? (f(at.get(p)) - low) / (high - low || 1) : null), low: one.low, high: one.high };
    });
    const better = (a, b) => (found.score[b] - found.score[a]) * (doc.headline.is_greater_better ? 1 : -1);
    const ranked = [...places].sort(better);
    const scores = ranked.map((p) => found.score[p]);
    const worst = scores[Math.floor(0.9 * (scores.length - 1))]; // a few that are far worse would press the others together
    const [low, high] = [Math.min(worst, scores[0]), Math.max(worst, scores[0])];
    const nBest = Math.max(1, Math.ceil(ranked.length / 10));
    const groups = [{ name: "the others", some: ranked.slice(nBest, 400), style: { color: theme.color("faint"), width: 0.9 }, opacity: 0.55 }, { name: "the best tenth", some: ranked.slice(0, nBest), style: { color: theme.color("accent"), width: 1.8 }, opacity: 0.85 }];
    const data = groups.filter((group) => group.some.length).map((group) => {
      const x = [], y = [];
      for (const p of group.some) {
        scaled.forEach((axis, i) => { x.push(i); y.push(axis.place(p)); });
        x.push(scaled.length); y.push(Math.min(1, Math.max(0, (found.score[p] - low) / (high - low || 1))));
        x.push(null); y.push(null);
      }
      return { type: "scatter", mode: "lines", name: group.name, x, y, line: group.style, opacity: group.opacity, hoverinfo: "skip", connectgaps: false };
    });
    const numberText = (value) => (typeof value === "number" ? Number(value.toPrecision(3)).toString() : short(value, 12));
    const ends = [...scaled.map((axis) => [numberText(axis.low), numberText(axis.high)]), [numberText(low), numberText(high)]];
    const notes = ends.flatMap(([bottom, top], i) => [[bottom, -0.06], [top, 1.06]].map(([words, y]) => ({ x: i, y, text: words, showarrow: false, font: { size: 11, color: theme.color("soft") } })));
    const names = [...axes.map((one) => one.name.split(":").at(-1)), doc.headline.metric];
    return { data, layout: { annotations: notes, margin: { l: 30, r: 30, t: 12, b: 60 }, xaxis: { tickmode: "array", tickvals: names.map((_, i) => i), ticktext: names.map((name) => short(name, theme.isNarrow ? 10 : 20)), showgrid: true, showline: false, zeroline: false, range: [-0.3, names.length - 0.7] }, yaxis: { showticklabels: false, showgrid: false, showline: false, ticks: "", zeroline: false, range: [-0.13, 1.13] } } };
  }
  function posterior(doc, curve, theme) {
    const fill = theme.isDark ? "rgba(127,176,245,.18)" : "rgba(31,95,191,.13)";
    const line = (y, more) => ({ type: "scatter", mode: "lines", x: curve.values, y, showlegend: false, hoverinfo: "skip", line: { width: 0, color: theme.color("accent") }, ...more });
    const all = [...curve.low, ...curve.high];
    return { data: [line(curve.low, {}), line(curve.high, { fill: "tonexty", fillcolor: fill }), line(curve.mean, { line: { color: theme.color("accent"), width: 2 }, hoverinfo: "all", hovertemplate: "%{x}<br>%{y:.5g}<extra></extra>" })],
      layout: { height: 250, margin: { l: 50, r: 8, t: 8, b: 40 }, shapes: curve.at === null ? [] : [{ type: "line", x0: curve.at, x1: curve.at, y0: 0, y1: 1, yref: "paper", line: { color: theme.color("warm"), width: 1.5, dash: "dot" } }],
        xaxis: { ...(curve.is_log ? decades(curve.values) : { type: "linear", nticks: 6 }), title: { text: short(curve.name, 40) } }, yaxis: { range: [Math.min(...all), Math.max(...all)] } } };
  }

  // ---- right and wrong ----------------------------------------------------------------------------------------

  function confusion(doc, theme) {
    const { labels, counts } = doc.diagnostics.confusion;
    const shares = counts.map((row) => { const total = row.reduce((a, b) => a + b, 0); return row.map((n) => (total ? n / total : null)); });
    const shown = counts.map((row, i) => row.map((n, j) => (labels.length > 6 ? `${n}` : `${n} (${((shares[i][j] ?? 0) * 100).toFixed(0)} %)`)));
    return heat(labels, labels, shares, shown, theme, { low: 0, high: 1, xTitle: "predicted", yTitle: "true", size: labels.length });
  }
  const diagonal = (theme, ends = [0, 1]) => ({ type: "scatter", mode: "lines", x: ends, y: ends, line: { color: theme.color("faint"), width: 1, dash: "dot" }, showlegend: false, hoverinfo: "skip" });
  function roc(doc, theme) {
    const data = doc.diagnostics.roc.map((one, i) => ({ type: "scatter", mode: "lines", name: `${short(one.label)}: ${one.area.toFixed(3)}`, x: one.x, y: one.y, line: { color: color(i), width: 2 }, hovertemplate: `${text(one.label)}<br>true %{y:.3f}, false %{x:.3f}<extra></extra>` }));
    return { data: [diagonal(theme), ...data], layout: { showlegend: true, xaxis: { title: { text: "false positives" }, range: [-0.01, 1.01], tickformat: ".0%" }, yaxis: { title: { text: "true positives" }, range: [0, 1.01], tickformat: ".0%" } } };
  }
  function calibration(doc, theme) {
    const data = doc.diagnostics.calibration.map((one, i) => ({ type: "scatter", mode: "lines+markers", name: short(one.label), x: one.said, y: one.true, line: { color: color(i), width: 1.5 }, marker: { size: 6 }, customdata: one.n,
      error_y: doc.diagnostics.calibration.length > 2 ? undefined : { type: "data", symmetric: false, array: one.high.map((v, j) => Math.max(0, v - one.true[j])), arrayminus: one.low.map((v, j) => Math.max(0, one.true[j] - v)), thickness: 1, width: 0, color: color(i) },
      hovertemplate: `${text(one.label)}<br>said %{x:.1%}, true %{y:.1%} of %{customdata} rows<extra></extra>` }));
    return { data: [diagonal(theme), ...data], layout: { showlegend: data.length > 1, xaxis: { title: { text: "probability that was said" }, range: [-0.02, 1.02], tickformat: ".0%" }, yaxis: { title: { text: "share that is true" }, range: [-0.02, 1.02], tickformat: ".0%" } } };
  }
  function predicted(doc, theme) {
    const found = doc.diagnostics, all = [...found.y, ...found.predicted], ends = [Math.min(...all), Math.max(...all)];
    return { data: [{ type: "scatter", mode: "markers", x: found.predicted, y: found.y, marker: { color: theme.color("accent"), size: 5, opacity: 0.45 }, showlegend: false, hovertemplate: "predicted %{x:.4g}<br>true %{y:.4g}<extra></extra>" }, diagonal(theme, ends)], layout: { xaxis: { title: { text: "predicted" } }, yaxis: { title: { text: "true" } } } };
  }
  function histogram(counts, edges, title, theme) {
    return { data: [{ type: "bar", x: counts.map((_, i) => (edges[i] + edges[i + 1]) / 2), width: counts.map((_, i) => edges[i + 1] - edges[i]), y: counts, marker: { color: theme.color("accent"), line: { width: 0.5, color: theme.color("paper") } }, hovertemplate: "about %{x:.4g}: %{y} rows<extra></extra>" }], layout: { bargap: 0, xaxis: { title: { text: title } }, yaxis: { title: { text: "rows" } } } };
  }
  function folds(doc, theme) {
    const found = doc.diagnostics.by_fold;
    return { data: [{ type: "scatter", mode: "markers", x: found.fold.map((fold) => fold + 1), y: found.error, marker: { color: theme.color("accent"), size: 9 }, customdata: found.n, error_y: { type: "data", symmetric: false, array: found.high.map((v, i) => v - found.error[i]), arrayminus: found.low.map((v, i) => found.error[i] - v), color: theme.color("faint"), thickness: 1.2, width: 4 }, hovertemplate: "fold %{x}: %{y:.4g} (%{customdata} rows)<extra></extra>" }], layout: { xaxis: { title: { text: "fold" }, dtick: 1 }, yaxis: { title: { text: found.what }, rangemode: "tozero" }, height: 280 } };
  }

  return { layoutOf, scores, correlation, choices, importance, columns, slice, parallel, posterior, confusion, roc, calibration, predicted, histogram, folds };
})();
