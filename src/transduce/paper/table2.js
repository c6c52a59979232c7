// Table 2: BLEU over the cost of training, and the table behind it.
const power = value => value.toExponential(1).replace("e+", "e");
const perPoint = (cost, bleu) => cost && bleu > 0 ? power(cost / bleu) : "";
// A measured score: [name, mean, spread]. Beside the paper's stands the same flavour.
const scoreOf = (task, here) => here.scores.find(([name]) => name === task.flavour);
const plusMinus = ([, value, deviation]) => value.toFixed(2) + (deviation === null ? "" : ` ± ${deviation.toFixed(2)}`);
const WIDTH = 760, HEIGHT = 320, LEFT = 46, RIGHT = 24, TOP = 12, BOTTOM = 40;
// Where a name has room beside its dot: the first place that is free of dots and other names.
function place(name, x, y, taken) {
  const width = 6.4 * name.length, places = [];
  for (const shift of [0, -13, 13, -26, 26]) {
    places.push({ anchor: "start", x: x + 9, y: y + 4 + shift, left: x + 9 }, { anchor: "end", x: x - 9, y: y + 4 + shift, left: x - 9 - width });
  }
  const box = label => [label.left, label.y - 10, label.left + width, label.y + 3];
  const isFree = label => {
    const [left, top, right, bottom] = box(label);
    return left > LEFT && right < WIDTH && top > 0 && bottom < HEIGHT - BOTTOM + 2 &&
      taken.every(other => right < other[0] || left > other[2] || bottom < other[1] || top > other[3]);
  };
  const found = places.find(isFree) ?? places[0];
  taken.push(box(found));
  return found;
}
function chart(task) {
  const dots = [];
  for (const system of task.systems) {
    const [bleu, cost] = system.printed;
    if (bleu && cost) dots.push({ name: system.name, bleu, cost, of: "paper" });
    if (system.here && data.is_full) dots.push({ name: `${system.name}, here`, bleu: scoreOf(task, system.here)[1], cost: system.here.paper_flops, of: "here" });
  }
  const exponents = dots.map(dot => Math.log10(dot.cost)), points = dots.map(dot => dot.bleu);
  const left = Math.floor(Math.min(...exponents)), right = Math.ceil(Math.max(...exponents) + 0.01);
  const step = Math.max(...points) - Math.min(...points) > 12 ? 5 : 1;
  const low = step * Math.floor(Math.min(...points) / step - 0.3), high = step * Math.ceil(Math.max(...points) / step + 0.3);
  const x = cost => LEFT + (Math.log10(cost) - left) / (right - left) * (WIDTH - LEFT - RIGHT);
  const y = bleu => HEIGHT - BOTTOM - (bleu - low) / (high - low) * (HEIGHT - TOP - BOTTOM);
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${task.title}: BLEU over the cost of training; the numbers are in the table below` });
  for (let exponent = left; exponent <= right; exponent++) {
    const place = x(10 ** exponent);
    picture.append(svg("line", { class: "grid", x1: place, x2: place, y1: TOP, y2: HEIGHT - BOTTOM }),
      svg("text", { x: place, y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, `1e${exponent}`));
  }
  for (let mark = low; mark <= high; mark += step) {
    picture.append(svg("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(mark), y2: y(mark) }),
      svg("text", { x: LEFT - 8, y: y(mark) + 4, "text-anchor": "end" }, String(mark)));
  }
  picture.append(svg("text", { x: WIDTH / 2, y: HEIGHT - 6, "text-anchor": "middle" }, "operations of training"));
  const taken = dots.map(dot => [x(dot.cost) - 6, y(dot.bleu) - 6, x(dot.cost) + 6, y(dot.bleu) + 6]);
  for (const dot of dots) {
    const label = place(dot.name, x(dot.cost), y(dot.bleu), taken);
    // A name that is not beside its dot is tied to it.
    picture.append(svg("line", { class: "tie", x1: x(dot.cost), y1: y(dot.bleu), x2: label.x, y2: label.y - 4 }), svg("circle", { class: dot.of, cx: x(dot.cost), cy: y(dot.bleu), r: 4.5 }),
      svg("text", { class: "name", x: label.x, y: label.y, "text-anchor": label.anchor }, dot.name));
  }
  return picture;
}
function table(task) {
  const row = system => {
    const [bleu, cost] = system.printed, { here } = system, none = system.is_ours ? "not run" : "printed, not run";
    const score = here ? plusMinus(scoreOf(task, here)) : none, points = here ? scoreOf(task, here)[1] : 0;
    const missing = system.is_ours ? "not run" : "";
    const values = [system.name, bleu ?? "", score, here ? plusMinus(here.scores[0]) : missing, cost ? power(cost) : "", here ? power(here.paper_flops) : missing,
      here ? power(here.flops) : missing, perPoint(cost, bleu), here ? perPoint(here.paper_flops, points) || "no points" : missing,
      here ? perPoint(here.flops, points) || "no points" : missing, here ? plusMinus(["", ...here.hours]) : missing];
    return el("tr", { className: system.is_ours ? "ours" : "" },
      ...values.map(value => el("td", String(value).includes("not run") ? { className: "none" } : {}, String(value))));
  };
  const names = ["system", "BLEU, paper", `here, ${task.flavour}`, "here, sacreBLEU", "FLOPs, paper", "here by its formula", "here counted", "per BLEU point, paper", "here by its formula", "here counted", "hours here"];
  return el("div", { className: "wide" }, el("table", {},
    el("thead", {}, el("tr", {}, ...names.map(name => el("th", { scope: "col" }, name)))), el("tbody", {}, ...task.systems.map(row))));
}
function flavours(task) {
  const run = task.systems.filter(system => system.here);
  if (!run.length) return [];
  const lines = run.map(({ name, here }) => el("tr", {}, el("td", {}, name),
    ...here.scores.map(score => el("td", {}, plusMinus(score))), el("td", {}, here.perplexity.toFixed(2)), el("td", {}, here.params.toLocaleString("en")),
    el("td", {}, here.made_of), el("td", {}, here.seeds.join(" "))));
  const names = ["all flavours", ...run[0].here.scores.map(([name]) => name), "perplexity", "parameters", "weights", "seeds"];
  return [el("div", { className: "wide" }, el("table", {}, el("thead", {}, el("tr", {}, ...names.map(name => el("th", { scope: "col" }, name)))),
    el("tbody", {}, ...lines)))];
}
// Another test set has other scores: a dot among the paper's would say what nobody measured.
const apart = task => data.is_full || !task.systems.some(system => system.here) ? []
  : [el("p", { className: "soft small" }, "Only the paper's systems are drawn: what was measured here is of another test set.")];
facts();
$("note").textContent = data.note;
$("keys").lastElementChild.hidden = !data.is_full;
$("tasks").append(...data.tasks.map(task => el("section", { className: "card" }, el("h2", {}, task.title),
  el("p", { className: "soft small" }, task.note), chart(task), ...apart(task), table(task), ...flavours(task))));
