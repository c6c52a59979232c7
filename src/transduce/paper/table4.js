// Table 4: F1 as dots, the paper's above and our own below, and the tables behind them.
const NOT_RUN = "not run", PRINTED = "printed, not run";
const state = row => row.failure ? "failed" : NOT_RUN;
const lines = [
  ...data.printed.map(row => ({ name: row.parser, about: row.training, set: data.set, search: "", paper: row.f1 })),
  ...data.rows.flatMap(row => row.results.length
    ? row.results.flatMap(result => result.scores.map(score => ({ name: result.name, about: row.about, set: score.name, search: score.search, here: score, result })))
    : [{ name: row.name, about: row.about, set: "", search: "", state: state(row), failure: row.failure }]),
];
const WIDTH = 860, LEFT = 362, RIGHT = 30, TOP = 8, ROW = 22;
function chart() {
  const values = lines.flatMap(line => line.here ? [line.here.low, line.here.high] : line.paper ?? []);
  const spread = Math.max(...values) - Math.min(...values), step = spread > 40 ? 10 : spread > 12 ? 5 : 1;
  const low = Math.max(0, step * Math.floor(Math.min(...values) / step - 0.2)), high = Math.min(100, step * Math.ceil(Math.max(...values) / step + 0.2));
  const x = value => LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT), bottom = TOP + ROW * lines.length;
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${bottom + 26}`, role: "img", "aria-label": "F1 of every parser; the numbers are in the table below" });
  for (let mark = low; mark <= high; mark += step) picture.append(
    svg("line", { class: "grid", x1: x(mark), x2: x(mark), y1: TOP, y2: bottom }), svg("text", { x: x(mark), y: bottom + 17, "text-anchor": "middle" }, String(mark)));
  lines.forEach((line, number) => {
    const y = TOP + ROW * (number + 0.5);
    picture.append(svg("text", { class: "name", x: LEFT - 12, y: y + 4, "text-anchor": "end" }, line.here ? `${line.name} on ${line.set}, ${line.search}` : `${line.name}${line.paper ? ` (${line.about})` : ""}`));
    if (line.here) picture.append(svg("line", { class: "whisker", x1: x(line.here.low), x2: x(line.here.high), y1: y, y2: y }), svg("circle", { class: "here", cx: x(line.here.f1), cy: y, r: 5 }));
    else if (line.paper) picture.append(svg("circle", { class: "paper", cx: x(line.paper), cy: y, r: 4 }));
    else picture.append(svg("text", { x: LEFT + 6, y: y + 4 }, line.state));
  });
  return picture;
}
const head = (...names) => el("thead", {}, el("tr", {}, ...names.map(name => el("th", { scope: "col" }, name))));
const cells = (className, words, values) => el("tr", { className }, ...values.map((value, place) =>
  el("td", { className: [NOT_RUN, PRINTED, "failed"].includes(value) ? "none" : place < words ? "words" : "" }, value)));
function numbers() {
  $("numbers").append(head("parser", "training", "scored on", "search", "F1, paper", "F1 here, 95 %", "recall", "precision", "complete match", "as EVALB", "well-formed", "repaired", "sentences a second", "minutes"),
    el("tbody", {}, ...lines.map((line, number) => {
      const { here, result } = line, isFirst = number > 0 && line.paper === undefined && lines[number - 1].name !== line.name;
      const figures = here ? [`${here.f1.toFixed(2)} [${here.low.toFixed(2)}, ${here.high.toFixed(2)}]`, here.recall.toFixed(2), here.precision.toFixed(2),
        here.complete_match.toFixed(2), here.evalb_f1.toFixed(2), `${here.share_well_formed.toFixed(2)} %`, `${here.n_repaired} of ${here.n_outputs}`, here.sentences_per_second.toFixed(1), isFirst ? result.minutes.toFixed(2) : ""]
        : [line.state ?? PRINTED, ...new Array(8).fill("")];
      return cells([line.paper === undefined ? "ours" : "", isFirst ? "group" : ""].join(" ").trim(), 4, [line.name, line.about, line.set, line.search, line.paper?.toFixed(1) ?? "", ...figures]);
    })));
  const failures = data.rows.filter(row => row.failure);
  $("numbers").parentElement.after(...failures.map(row => el("p", {}, `${row.name} failed: ${row.failure}`)));
}
function runs() {
  const results = data.rows.flatMap(row => row.results);
  if (!results.length) { $("runs").append(el("caption", {}, "Not run.")); return; }
  $("runs").append(head("run", "trees", "M parameters", "updates", "weights", "dev F1", "minutes", "FLOPs", "on"), el("tbody", {}, ...results.map(result =>
    cells("ours", 1, [result.name, result.n_trees.toLocaleString("en"), (result.n_parameters / 1e6).toFixed(2), result.step.toLocaleString("en"), result.made_of, result.dev_f1.toFixed(2),
      result.minutes.toFixed(2), result.flops.toExponential(1).replace("e+", "e"), `${result.n_devices} x ${result.device}`]))));
  $("self-training").append(...results.filter(result => result.self_training).map(({ name, self_training: found }) => el("li", {},
    `${name}: ${found.teacher} has parsed ${found.n_sentences.toLocaleString("en")} sentences in ${found.minutes.toFixed(2)} minutes; ` +
    `${found.n_repaired.toLocaleString("en")} outputs were no trees, and ${found.n_kept.toLocaleString("en")} trees were learned from beside the others`)));
  $("commands").append(...results.map(result => el("details", {}, el("summary", {}, result.name), el("pre", {}, el("code", {}, result.commands.join("\n"))))));
}
facts();
$("note").textContent = data.note;
$("how").textContent = data.how;
$("chart").append(chart());
numbers();
runs();
