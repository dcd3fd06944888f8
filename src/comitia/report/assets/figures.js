// Figures of the page: functions of the document and the theme that return plotly's data and layout. No element of the
// page is touched here. Texts that come from data pass through `text`, because plotly reads some HTML in labels.
"use strict";
const comitiaFigures = (() => {
  const PALETTE = ["#3b78c3", "#d9822b", "#2a9d78", "#b85c9e", "#8a6fc9", "#c9a227", "#4bb3c4", "#c25450", "#7d8a97", "#6b8e3d"];
  const text = (value) => String(value ?? "").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const short = (value, most = 28) => { const plain = String(value ?? ""); return text(plain.length > most ? `${plain.slice(0, most - 1)}…` : plain); };
  const color = (i) => PALETTE[i % PALETTE.length];

  function layoutOf(theme, own) {
    const axis = { gridcolor: theme.color("line"), linecolor: theme.color("line"), zerolinecolor: theme.color("line"), tickcolor: theme.color("line"), automargin: true, title: { standoff: 10 } };
    const made = {
      font: { family: theme.font, size: 13, color: theme.color("soft") }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 50, r: 10, t: 12, b: 40 }, height: theme.isNarrow ? 300 : 380, autosize: true, hovermode: "closest", dragmode: false,
      hoverlabel: { bgcolor: theme.color("raised"), bordercolor: theme.color("line"), font: { color: theme.color("ink"), family: theme.font, size: 13 }, align: "left" },
      legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0, font: { size: 12 }, itemclick: "toggle", itemdoubleclick: "toggleothers" },
      colorway: PALETTE, ...own,
    };
    for (const name of Object.keys(made).filter((key) => /^[xy]axis\d*$/.test(key)).concat(["xaxis", "yaxis"])) made[name] = { ...axis, ...(made[name] ?? {}), fixedrange: true };
    return made;
  }

  // Scores that are far worse than most would press the others into a line: the axis shows the better nine tenths.
  function rangeOf(values, isGreaterBetter, also = []) {
    const known = values.filter((v) => v !== null && Number.isFinite(v)).sort((a, b) => a - b);
    if (known.length < 20) return undefined;
    const at = (share) => known[Math.round(share * (known.length - 1))];
    const all = [isGreaterBetter ? at(0.1) : known[0], isGreaterBetter ? known[known.length - 1] : at(0.9), ...also.filter((v) => v !== null)];
    const [low, high] = [Math.min(...all), Math.max(...all)];
    if (high - low <= 0 || (known[known.length - 1] - known[0]) < 3 * (high - low)) return undefined;
    const margin = (high - low) * 0.08;
    return [low - margin, high + margin];
  }

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
      data.push({ type: "scatter", mode: "lines", name: "returned, validation rows", x: at, y: doc.path.optimistic, line: { color: theme.color("warm"), width: 2 }, hovertemplate: "validation rows %{y:.5g}<extra></extra>" });
      data.push({ type: "scatter", mode: "lines+markers", name: "returned, honest estimate", x: at, y: doc.path.estimate, line: { color: theme.color("accent"), width: 2.5 }, marker: { size: 6 },
        fill: "tonexty", fillcolor: theme.isDark ? "rgba(235,162,114,.16)" : "rgba(179,84,30,.10)", hovertemplate: "honest estimate %{y:.5g}<extra></extra>" });
    }
    return { data, layout: { xaxis: { title: { text: isNumber ? "trial" : "seconds of trials, added up" }, rangemode: "tozero" }, yaxis: { title: { text: text(head.metric) }, range: rangeOf(found.score, head.is_greater_better, also) } } };
  }

  return { layoutOf, scores, text, short, color, rangeOf };
})();
