// Table 3: differences to the base model as dots with intervals, and the tables behind them.
const signed = value => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2);
const share = value => { const p = 100 * Math.expm1(value); return (p < 0 ? "−" : "+") + Math.abs(p).toFixed(1) + "%"; };
const METRICS = {
  BLEU: { title: "BLEU to the base model", write: signed, better: "better is to the right",
    into: value => value, from: mark => mark, mark: mark => `${mark > 0 ? "+" : mark < 0 ? "−" : ""}${Number(Math.abs(mark).toFixed(2))}` },
  // Perplexities are compared by their ratio: places on the axis are logarithms, its marks are round percents.
  perplexity: { title: "Perplexity to the base model", write: share, better: "better is to the left",
    into: value => 100 * Math.expm1(value), from: mark => Math.log1p(mark / 100), mark: mark => `${mark > 0 ? "+" : mark < 0 ? "−" : ""}${Math.abs(mark)}%` },
};
const NOT_RUN = "not run", NO_BASE = "base not run";
const plusMinus = (value, deviation, places) => value.toFixed(places) + (deviation === null ? "" : ` ± ${deviation.toFixed(places)}`);
const state = row => row.failure ? "failed" : NOT_RUN;
const others = data.rows.filter(row => row.name !== "base");
const WIDTH = 560, LEFT = 96, RIGHT = 18, TOP = 8, ROW = 24;
const range = metric => {
  const values = [0];
  for (const row of others) {
    values.push(row.printed.differences[metric]);
    if (row.differences[metric]) values.push(row.differences[metric][0], ...row.differences[metric].slice(1, 3));
  }
  // One very bad row must not make all others unreadable: what lies beyond is drawn at the edge, with an arrow.
  const sorted = [...values].sort((a, b) => a - b), at = part => sorted[Math.round(part * (sorted.length - 1))];
  const middle = Math.max(Math.abs(at(0.06)), Math.abs(at(0.94)), metric === "BLEU" ? 0.5 : 0.03) * 1.6;
  const low = Math.max(sorted[0], -middle), high = Math.min(sorted[sorted.length - 1], middle), room = 0.06 * (high - low);
  return [low - room, high + room];
};
const marks = (low, high) => {
  const rough = (high - low) / 6, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(factor => factor * power).find(size => size >= rough);
  const found = [];
  for (let mark = Math.ceil(low / step); mark * step <= high; mark++) found.push(mark * step);
  return found;
};
function chart(metric) {
  const { title, write, better, into, from, mark: name } = METRICS[metric], [low, high] = range(metric);
  const height = TOP + ROW * others.length + 26, bottom = height - 26;
  const x = value => LEFT + (clamp(value, low, high) - low) / (high - low) * (WIDTH - LEFT - RIGHT);
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "group", "aria-label": title });
  for (const mark of marks(into(low), into(high))) {
    const place = x(from(mark)), isZero = Math.abs(mark) < 1e-9;
    picture.append(svg("line", { class: isZero ? "zero" : "grid", x1: place, x2: place, y1: TOP, y2: bottom }));
    picture.append(svg("text", { x: place, y: bottom + 17, "text-anchor": "middle" }, isZero ? "0" : name(mark)));
  }
  others.forEach((row, number) => picture.append(line(row, number, metric, x, [low, high], write)));
  picture.addEventListener("keydown", event => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], rows = [...picture.querySelectorAll(".row")];
    const at = rows.indexOf(document.activeElement);
    if (step === undefined || at < 0) return;
    event.preventDefault();
    rows[clamp(at + step, 0, rows.length - 1)].focus();
  });
  return el("section", { className: "card" }, el("h2", {}, title), el("p", { className: "soft small" }, better), picture);
}
function line(row, number, metric, x, [low, high], write) {
  const middle = TOP + ROW * (number + 0.5), found = row.differences[metric], printed = row.printed.differences[metric];
  const words = found ? `${write(found[0])}, from ${write(found[1])} to ${write(found[2])} over ${found[3]}` : row.here ? NO_BASE : state(row);
  const group = svg("g", { class: "row", tabindex: number === 0 ? 0 : -1, role: "button", "aria-pressed": false,
    "aria-label": `${row.name}: paper ${write(printed)}, here ${words}` });
  group.dataset.row = row.name;
  group.append(svg("rect", { class: "hit", x: 1, y: middle - ROW / 2, width: WIDTH - 2, height: ROW, rx: 4 }),
    svg("text", { class: "name", x: LEFT - 12, y: middle + 4, "text-anchor": "end" }, row.name));
  const mark = (value, shape) => {
    group.append(shape);
    if (value < low || value > high) {
      const side = value < low ? -1 : 1, place = x(value) + 8 * side;
      group.append(svg("path", { class: "here", d: `M${place} ${middle}l${-5 * side} -4v8z` }));
    }
  };
  if (found) {
    group.append(svg("line", { class: "whisker", x1: x(found[1]), x2: x(found[2]), y1: middle, y2: middle }));
    mark(found[0], svg("circle", { class: "here", cx: x(found[0]), cy: middle, r: 5 }));
  } else {
    const place = x(printed) > WIDTH / 2 ? [LEFT + 6, "start"] : [WIDTH - RIGHT, "end"];
    group.append(svg("text", { class: "none", x: place[0], y: middle + 4, "text-anchor": place[1] }, row.here ? NO_BASE : state(row)));
  }
  group.append(svg("circle", { class: "paper", cx: x(printed), cy: middle, r: 4 }));
  group.addEventListener("click", () => choose(row.name));
  group.addEventListener("keydown", event => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(row.name); }
  });
  return group;
}
const badge = verdict => el("span", { className: `verdict v-${verdict.split(" ")[0]}` }, verdict);
function choose(name) {
  const row = data.rows.find(each => each.name === name), { printed, here } = row;
  document.querySelectorAll(".row").forEach(group => group.setAttribute("aria-pressed", group.dataset.row === name));
  document.querySelectorAll("tr[data-row]").forEach(line => line.setAttribute("aria-selected", line.dataset.row === name));
  $("detail-title").textContent = row.name;
  const lines = [el("p", { className: "soft" }, row.changes ? `Changed: ${row.changes}` : "The base model")];
  const list = el("dl");
  const say = (term, text) => list.append(el("div", {}, el("dt", {}, term), el("dd", {}, text)));
  say("perplexity, paper", printed.perplexity.toFixed(2));
  say("here", here ? plusMinus(...here.perplexity, 2) : state(row));
  say("BLEU, paper", printed.BLEU.toFixed(1));
  say("here", here ? plusMinus(here.scores[0].value, here.scores[0].deviation, 2) : state(row));
  if (here) {
    say("parameters", here.params.toLocaleString("en"));
    say("seeds", here.seeds.join(" "));
    say("hours", plusMinus(...here.hours, 2));
    say("FLOPs counted", here.flops_words);
    say("by the paper's formula", here.paper_flops_words);
    say("counted, for each point of BLEU", here.per_point);
    say("by the formula", here.paper_per_point);
  }
  lines.push(list);
  if (row.failure) lines.push(el("p", {}, `Failed: ${row.failure}`));
  for (const found of row.verdicts) lines.push(el("p", {}, badge(found.verdict), ` ${found.words}`));
  $("detail").replaceChildren(...lines);
}
const head = (...names) => el("thead", {}, el("tr", {}, ...names.map(name => el("th", { scope: "col" }, name))));
const cells = (row, ...values) => {
  const made = el("tr", { data: { row: row.name } }, ...values.map(value => {
    const isMissing = [NOT_RUN, NO_BASE, "failed"].includes(value);
    return el("td", isMissing ? { className: "none" } : {}, value);
  }));
  const before = data.rows[data.rows.indexOf(row) - 1];
  if (before && before.name[0] !== row.name[0]) made.classList.add("group");
  return made;
};
const difference = (row, metric) => {
  const found = row.differences[metric], { write } = METRICS[metric];
  return row.name === "base" ? "" : found ? `${write(found[0])} [${write(found[1])}, ${write(found[2])}]` : row.here ? NO_BASE : state(row);
};
function tables() {
  const verdicts = data.rows.flatMap(row => row.verdicts.map(found => [row, found]));
  const count = name => verdicts.filter(([, found]) => found.verdict === name).length;
  $("count").textContent = ["borne out", "contradicted", "not decided", NOT_RUN].map(name => `${count(name)} ${name}`).join(", ");
  $("conclusions").append(head("row", "the paper", "expected", "printed", "measured, 95 %", "verdict"), el("tbody", {},
    ...verdicts.map(([row, found]) => cells(row, row.name, found.words, `${found.metric} ${found.expected}` +
      (found.source === "table" ? " (by its table)" : ""),
      METRICS[found.metric].write(row.printed.differences[found.metric]), difference(row, found.metric), badge(found.verdict)))));
  $("numbers").append(head("row", "changed here", "M parameters, paper", "here", "perplexity, paper", "here", "BLEU, paper", "here", "BLEU to base, paper",
    "here", "perplexity to base, paper", "here", "hours", "FLOPs"), el("tbody", {}, ...data.rows.map(row => {
    const { printed, here } = row, isBase = row.name === "base", none = state(row);
    return cells(row, row.name, row.changes, printed.params ?? "", here ? (here.params / 1e6).toFixed(2) : none, printed.perplexity.toFixed(2),
      here ? plusMinus(...here.perplexity, 2) : none, printed.BLEU.toFixed(1),
      here ? plusMinus(here.scores[0].value, here.scores[0].deviation, 2) : none,
      isBase ? "" : signed(printed.differences.BLEU), difference(row, "BLEU"),
      isBase ? "" : share(printed.differences.perplexity), difference(row, "perplexity"),
      here ? plusMinus(...here.hours, 2) : none, here ? here.flops_words : none);
  })));
  const first = data.rows.find(row => row.here);
  if (!first) { $("flavours").append(el("caption", {}, "Not run.")); return; }
  const names = first.here.scores.map(score => score.name);
  $("flavours").append(head("row", ...names), el("tbody", {}, ...data.rows.map(row => cells(row, row.name, ...names.map(name => {
    const score = row.here && row.here.scores.find(each => each.name === name);
    return score ? plusMinus(score.value, score.deviation, 2) : state(row);
  })))));
  $("signatures").append(...first.here.scores.map(score =>
    el("div", {}, el("dt", {}, score.name), el("dd", {}, el("code", {}, score.signature)))));
}
facts();
$("note").textContent = data.note;
$("charts").append(...Object.keys(METRICS).map(chart));
tables();
choose("base");
