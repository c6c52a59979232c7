// The attention page: what is shown is in `state`, the address of the page is the state, and draw() shows it.
// #figure=3 is the view that is Figure 3 of the paper.
const SIDES = { src: "the source", tgt_in: "the translation so far", tgt_out: "the token to write" };
const HINTS = { previous: "previous token", next: "next token", itself: "itself", diagonal: "diagonal", EOS: "end sign", BOS: "start sign", broad: "broad" };
const HUES = [212, 24, 140, 345, 272, 178, 46, 310];
const kinds = Object.fromEntries(data.kinds.map(kind => [kind.kind, { ...kind, raw: decode(kind.weights, Uint16Array) }]));
const units = Object.keys(data.units);
let state = {}, cursor = [0, 0], pointed = null;

const kindNow = () => kinds[state.kind];
const side = name => data.units[state.unit][name];
const names = () => [side(kindNow().rows).names, side(kindNow().columns).names];
const hue = head => `hsl(${kindNow().n_heads <= HUES.length ? HUES[head - 1] : 360 * (head - 1) / kindNow().n_heads} 72% ${colour("--level")})`;
const heat = weight => `rgb(${colour("--heat")} / ${Math.sqrt(weight).toFixed(3)})`;
const numbers = (layer, head) => kindNow().numbers[state.unit][layer - 1][head - 1];

// Weights of a head between the words or pieces that are shown: read by the sum of the pieces, looking by their mean.
const kept = new Map();
function matrix(head, layer = state.layer) {
  const key = [state.kind, state.unit, layer, head].join();
  if (kept.has(key)) return kept.get(key);
  const kind = kindNow(), rows = side(kind.rows), columns = side(kind.columns);
  const n = rows.group_of.length, m = columns.group_of.length, width = columns.names.length;
  const joined = new Float32Array(rows.names.length * width), counts = new Array(rows.names.length).fill(0);
  rows.group_of.forEach(row => counts[row]++);
  let at = ((layer - 1) * kind.n_heads + head - 1) * n * m;
  for (let i = 0; i < n; i++) for (let j = 0; j < m; j++, at++)
    joined[rows.group_of[i] * width + columns.group_of[j]] += kind.raw[at] / 65535 / counts[rows.group_of[i]];
  kept.set(key, joined);
  return joined;
}
function mean() {
  const all = state.heads.map(head => matrix(head)), sum = new Float32Array(all[0].length);
  for (const one of all) for (let i = 0; i < sum.length; i++) sum[i] += one[i] / all.length;
  return sum;
}

// State and address.
function complete(wanted) {
  const kind = wanted.kind in kinds ? wanted.kind : data.start.kind, of = kinds[kind], unit = units.includes(wanted.unit) ? wanted.unit : units[0];
  const heads = [...new Set((wanted.heads ?? []).map(Number))].filter(head => head >= 1 && head <= of.n_heads).sort((a, b) => a - b);
  const n = data.units[unit][of.rows].names.length, chosen = wanted.word;
  return {
    kind, unit, view: wanted.view === "map" ? "map" : "lines",
    layer: clamp(Math.round(Number(wanted.layer) || of.n_layers), 1, of.n_layers),
    heads: heads.length ? heads : Array.from({ length: of.n_heads }, (_, i) => i + 1),
    word: Number.isInteger(chosen) && chosen >= 0 && chosen < n ? chosen : null,
  };
}
const address = ({ kind, layer, heads, word, view, unit }) =>
  `#kind=${kind}&layer=${layer}&heads=${heads.length === kinds[kind].n_heads ? "all" : heads.join(",")}&word=${word === null ? "all" : word + 1}&view=${view}&unit=${unit}`;
function fromAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  if (![...given.keys()].length) return complete({ ...data.start, layer: data.start.layer, word: 0 });
  const figure = data.views.find(view => given.has("figure") && view.title.startsWith(`Figure ${given.get("figure")}`));
  if (figure) return complete(figure);
  const heads = given.get("heads"), at = given.get("word");
  return complete({
    kind: given.get("kind"), layer: given.get("layer"), view: given.get("view"), unit: given.get("unit"),
    heads: !heads || heads === "all" ? [] : heads.split(","), word: !at || at === "all" ? null : Number(at) - 1,
  });
}
function change(changes) {
  if ("unit" in changes || "kind" in changes) { cursor = [0, 0]; if (!("word" in changes)) changes.word = state.word === null ? null : 0; }
  state = complete({ ...state, ...changes });
  history.replaceState(null, "", address(state));
  drawControls(); drawFigures(); drawStage();
  if (Object.keys(changes).some(name => name !== "word" && name !== "view")) drawOverviews();
}

// Controls.
function pick(box, name, type, choices, isChosen, choose) {
  const existing = box.querySelectorAll(".pick");
  if (existing.length !== choices.length) {
    existing.forEach(one => one.remove());
    choices.forEach(([value, text]) => {
      const input = el("input", { type, name, value: String(value) });
      input.addEventListener("change", () => choose(value, input.checked));
      box.append(el("label", { className: "pick" }, input, el("span", {}, text)));
    });
  }
  box.querySelectorAll("input").forEach((input, i) => { input.checked = isChosen(choices[i][0]); });
}
function drawControls() {
  const count = n => Array.from({ length: n }, (_, i) => [i + 1, String(i + 1)]), kind = kindNow();
  pick($("kinds"), "kind", "radio", data.kinds.map(one => [one.kind, one.name]), value => value === state.kind, value => change({ kind: value, layer: Math.min(state.layer, kinds[value].n_layers) }));
  pick($("layers"), "layer", "radio", count(kind.n_layers), value => value === state.layer, value => change({ layer: value }));
  pick($("heads"), "head", "checkbox", count(kind.n_heads), value => state.heads.includes(value), value => toggle(value));
  $("heads").querySelectorAll(".pick").forEach((label, i) => label.style.setProperty("--of", hue(i + 1)));
  let all = $("all-heads");
  if (!all) { all = el("button", { type: "button", id: "all-heads" }, "All"); all.addEventListener("click", () => change({ heads: [] })); }
  $("heads").append(all);
  all.disabled = state.heads.length === kind.n_heads;
  pick($("views"), "view", "radio", [["lines", "Lines"], ["map", "Heat map"]], value => value === state.view, value => change({ view: value }));
  pick($("units"), "unit", "radio", units.map(unit => [unit, unit[0].toUpperCase() + unit.slice(1)]), value => value === state.unit, value => change({ unit: value }));
  $("units").hidden = units.length < 2;
}
function toggle(head) {
  const left = state.heads.includes(head) ? state.heads.filter(one => one !== head) : [...state.heads, head];
  change({ heads: left.length ? left : [head] });
}
const sameView = view => address(complete(view)) === address({ ...state, view: "lines" });
function drawFigures() {
  $("figures").querySelectorAll("a").forEach((link, i) => sameView(data.views[i]) ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current"));
  $("why").textContent = data.views.find(sameView)?.why ?? "";
}

// Lines.
const ROW = 24;
function drawWords() {
  const [rows, columns] = names(), focused = $("asks").contains(document.activeElement);
  $("asks").replaceChildren(...rows.map((name, i) => el("li", {}, el("button", {
    type: "button", title: `${i + 1}: ${name}`, "aria-pressed": String(i === state.word), tabIndex: i === (state.word ?? 0) ? 0 : -1, data: { at: i },
  }, word(name)))));
  $("read").replaceChildren(...columns.map((name, j) => el("li", {}, el("span", { title: `${j + 1}: ${name}`, data: { at: j } }, word(name)))));
  if (focused) $("asks").children[state.word ?? 0].firstChild.focus();
}
function drawLines() {
  const [rows, columns] = names(), box = $("lines").getBoundingClientRect();
  const left = $("asks").getBoundingClientRect().right - box.left + 6, right = $("read").getBoundingClientRect().left - box.left - 6;
  const width = Math.max(40, right - left), pen = canvas($("between"), width, ROW * Math.max(rows.length, columns.length));
  pen.lineWidth = 2;
  const only = pointed === null ? state.word : null, every = pointed === null && state.word === null;
  for (const head of state.heads) {
    const weights = matrix(head);
    pen.strokeStyle = hue(head);
    for (let i = 0; i < rows.length; i++) {
      if (only !== null && i !== only) continue;
      for (let j = 0; j < columns.length; j++) {
        const weight = weights[i * columns.length + j];
        if (weight < 0.01 || (pointed !== null && j !== pointed)) continue;
        pen.globalAlpha = every ? weight : Math.sqrt(weight);
        pen.beginPath(); pen.moveTo(0, ROW * (i + 0.5)); pen.lineTo(width, ROW * (j + 0.5)); pen.stroke();
      }
    }
  }
  pen.globalAlpha = 1;
  // Behind the words that are looked at: one stripe for each head, as strong as its weight.
  [...$("read").children].forEach((item, j) => {
    const stripes = state.word === null ? [] : state.heads.map((head, place) => {
      const strength = (90 * Math.sqrt(matrix(head)[state.word * columns.length + j])).toFixed(1), n = state.heads.length;
      return `color-mix(in srgb, ${hue(head)} ${strength}%, transparent) ${(100 * place / n).toFixed(2)}% ${(100 * (place + 1) / n).toFixed(2)}%`;
    });
    item.firstChild.style.backgroundImage = stripes.length ? `linear-gradient(to right, ${stripes.join(", ")})` : "";
  });
  const [rowsOf, columnsOf] = [kindNow().rows, kindNow().columns];
  $("asks-title").textContent = SIDES[rowsOf]; $("read-title").textContent = `looks at ${SIDES[columnsOf]}`;
}
function say() {
  const [rows, columns] = names(), told = $("said"), many = state.heads.length > 1 ? `mean of ${state.heads.length} heads` : `head ${state.heads[0]}`;
  if (state.view === "map") {
    const [i, j] = cursor, each = state.heads.map(head => `head ${head} ${percent(matrix(head)[i * columns.length + j])}`);
    told.replaceChildren(word(rows[i]), " looks at ", word(columns[j]), `: ${percent(mean()[i * columns.length + j])} (${many})${each.length > 1 ? `: ${each.join(", ")}` : ""}`);
  } else if (state.word === null) {
    told.textContent = "All words at once. Choose a word to see what it looks at, or point at a word on the right to see who looks at it.";
  } else {
    const weights = mean(), best = columns.map((name, j) => [weights[state.word * columns.length + j], name]).sort((a, b) => b[0] - a[0]).slice(0, 5).filter(([weight]) => weight >= 0.005);
    told.replaceChildren(word(rows[state.word]), ` looks at (${many}): `, ...best.flatMap(([weight, name], i) => [i ? ", " : "", word(name), ` ${percent(weight)}`]));
  }
}

// Heat map.
let cell = 20, edge = [0, 0];
function drawMap() {
  const [rows, columns] = names(), weights = mean(), short = name => [...name].length > 16 ? [...name].slice(0, 15).join("") + "…" : name;
  const room = $("map-box").clientWidth || 600, measure = $("map").getContext("2d");
  measure.font = "12px system-ui, sans-serif";
  const longest = list => Math.ceil(Math.max(...list.map(name => measure.measureText(short(name)).width))) + 10;
  edge = [longest(rows), longest(columns)];
  cell = clamp(Math.floor((room - edge[0] - 4) / columns.length), 11, 30);
  const width = edge[0] + cell * columns.length + 2, height = edge[1] + cell * rows.length + 2, pen = canvas($("map"), width, height);
  pen.font = `${clamp(cell - 3, 9, 12.5)}px system-ui, sans-serif`; pen.textBaseline = "middle"; pen.fillStyle = colour("--ink"); pen.textAlign = "right";
  rows.forEach((name, i) => { pen.globalAlpha = state.word === null || state.word === i ? 1 : 0.55; pen.fillText(short(name), edge[0] - 5, edge[1] + cell * (i + 0.5)); });
  pen.globalAlpha = 1; pen.textAlign = "left";
  columns.forEach((name, j) => { pen.save(); pen.translate(edge[0] + cell * (j + 0.5), edge[1] - 5); pen.rotate(-Math.PI / 2); pen.fillText(short(name), 0, 0); pen.restore(); });
  for (let i = 0; i < rows.length; i++) for (let j = 0; j < columns.length; j++) {
    const weight = weights[i * columns.length + j];
    if (weight > 0) { pen.fillStyle = heat(Math.min(1, weight)); pen.fillRect(edge[0] + cell * j, edge[1] + cell * i, cell - 1, cell - 1); }
  }
  pen.strokeStyle = colour("--edge"); pen.strokeRect(edge[0] - 0.5, edge[1] - 0.5, cell * columns.length, cell * rows.length);
  pen.strokeStyle = colour("--c1"); pen.lineWidth = 2; pen.strokeRect(edge[0] + cell * cursor[1] - 0.5, edge[1] + cell * cursor[0] - 0.5, cell, cell);
  $("map").setAttribute("aria-label", `Heat map of ${rows.length} by ${columns.length} weights. Arrow keys move over the cells.`);
  $("legend").replaceChildren("weight", ...[0, 0.1, 0.25, 0.5, 1].flatMap(weight => [el("i", { style: { background: heat(weight) } }), String(weight)]));
}
function moveTo(i, j) {
  const [rows, columns] = names();
  cursor = [clamp(i, 0, rows.length - 1), clamp(j, 0, columns.length - 1)];
  drawMap(); say();
}

// Overview of the layer, and of all layers. What is drawn anew keeps the focus where it was.
function refill(box, children) {
  const at = [...box.querySelectorAll("button")].indexOf(document.activeElement);
  box.replaceChildren(...children);
  if (at >= 0) box.querySelectorAll("button")[at]?.focus({ preventScroll: true });
}
function drawCards() {
  const kind = kindNow(), [rows, columns] = names();
  $("overview-title").textContent = `${kind.name} attention, layer ${state.layer}: all heads`;
  refill($("cards"), Array.from({ length: kind.n_heads }, (_, i) => {
    const head = i + 1, about = numbers(state.layer, head), weights = matrix(head), thumb = el("canvas", { width: columns.length, height: rows.length });
    const pen = thumb.getContext("2d"), image = pen.createImageData(columns.length, rows.length), [r, g, b] = colour("--heat").split(" ").map(Number);
    weights.forEach((weight, at) => image.data.set([r, g, b, Math.round(255 * Math.sqrt(Math.min(1, weight)))], 4 * at));
    pen.putImageData(image, 0, 0);
    const top = Math.max(...about.profile.map(([, value]) => value), 1e-6);
    const bars = el("span", { className: "bars" }, ...about.profile.map(([at, value]) => el("i", { className: at === 0 ? "zero" : "", title: `${at > 0 ? "+" : ""}${at}: ${percent(value)}`, style: { height: `${100 * value / top}%` } })));
    return el("button", { type: "button", "aria-pressed": String(state.heads.includes(head)), style: { "--of": hue(head) }, data: { head } },
      el("b", {}, `Head ${head}`), thumb, bars, el("small", {}, `${about.entropy.toFixed(1)} of ${about.widest.toFixed(1)} bits`),
      el("small", { className: "hint" }, about.hint ? `${HINTS[about.hint[0]]} ${percent(about.hint[1])}` : "\u00a0"));
  }));
}
function drawAll() {
  const kind = kindNow(), heads = Array.from({ length: kind.n_heads }, (_, i) => i + 1);
  const row = layer => el("tr", {}, el("th", { scope: "row" }, `layer ${layer}`), ...heads.map(head => {
    const about = numbers(layer, head), sharp = about.widest ? 1 - about.entropy / about.widest : 0;
    return el("td", {}, el("button", {
      type: "button", data: { layer, head }, "aria-pressed": String(layer === state.layer && state.heads.includes(head)),
      style: { background: `rgb(${colour("--heat")} / ${(0.55 * clamp(sharp, 0, 1)).toFixed(2)})` },
    }, about.entropy.toFixed(2), el("small", {}, about.hint ? HINTS[about.hint[0]] : "\u00a0")));
  }));
  refill($("all"), [el("tr", {}, el("th", {}), ...heads.map(head => el("th", { scope: "col" }, `head ${head}`))), ...Array.from({ length: kind.n_layers }, (_, i) => row(i + 1))]);
}

function drawStage() {
  const isMap = state.view === "map", kind = kindNow();
  $("lines").hidden = isMap; $("map-box").hidden = !isMap;
  $("stage-title").textContent = `${kind.name} attention, layer ${state.layer}, ${state.heads.length === kind.n_heads ? "all heads" : state.heads.length > 1 ? `heads ${state.heads.join(", ")}` : `head ${state.heads[0]}`}`;
  $("stage-help").textContent = isMap
    ? (state.heads.length > 1 ? "The mean of the chosen heads. Point at a cell for its values." : "Point at a cell for its value.")
    : "Each line is a weight, in the colour of its head. Choose a word; Escape shows all.";
  if (isMap) drawMap(); else { drawWords(); drawLines(); }
  say();
}
function drawOverviews() { drawCards(); drawAll(); }
function draw() { drawControls(); drawFigures(); drawStage(); drawOverviews(); }

// What the reader does.
facts();
$("figures").append(...data.views.map(view => el("a", { href: address(complete(view)) }, view.title)));
$("controls").addEventListener("submit", event => event.preventDefault());
$("asks").addEventListener("click", event => {
  const button = event.target.closest("button");
  if (button) { const at = Number(button.dataset.at); change({ word: at === state.word ? null : at }); }
});
$("asks").addEventListener("keydown", event => {
  const n = names()[0].length, at = Number(document.activeElement.dataset.at), to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: n - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  change({ word: clamp(to, 0, n - 1) });
});
document.addEventListener("keydown", event => { if (event.key === "Escape") change({ word: null }); });
$("read").addEventListener("pointerover", event => { pointed = Number(event.target.closest("[data-at]")?.dataset.at ?? NaN); if (Number.isNaN(pointed)) pointed = null; drawLines(); });
$("read").addEventListener("pointerleave", () => { pointed = null; drawLines(); });
$("map").addEventListener("pointermove", event => {
  const [i, j] = [Math.floor((event.offsetY - edge[1]) / cell), Math.floor((event.offsetX - edge[0]) / cell)];
  if (i >= 0 && j >= 0 && (i !== cursor[0] || j !== cursor[1])) moveTo(i, j);
});
$("map").addEventListener("keydown", event => {
  const by = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key];
  if (by) { event.preventDefault(); moveTo(cursor[0] + by[0], cursor[1] + by[1]); }
});
$("cards").addEventListener("click", event => {
  const button = event.target.closest("button");
  if (!button) return;
  const head = Number(button.dataset.head);
  if (event.ctrlKey || event.metaKey || event.shiftKey) toggle(head); else change({ heads: state.heads.length === 1 && state.heads[0] === head ? [] : [head] });
});
$("all").addEventListener("click", event => {
  const button = event.target.closest("button");
  if (button) change({ layer: Number(button.dataset.layer), heads: [Number(button.dataset.head)] });
});
window.addEventListener("hashchange", () => { state = fromAddress(); draw(); });
state = fromAddress();
draw();
onChange(draw);
