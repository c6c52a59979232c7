// A sentence on its way through the model. One word of either side may be chosen; everything then shows its numbers.
const SIDES = [["encoder", "Encoder", "the left half of Figure 1"], ["decoder", "Decoder", "the right half"]];
const chosen = { encoder: null, decoder: null };
const blocks = side => data.blocks.filter(block => block.side === side);
const mean = values => values.reduce((sum, value) => sum + value, 0) / values.length;
const shown = (side, values) => chosen[side] === null ? mean(values) : values[chosen[side]];
const shape = sizes => sizes.join(" \u00d7 ");
const kindOf = name => name.includes("source") ? "cross" : name.includes("attention") ? "attention" : name.startsWith("Feed") ? "feed" : "plain";

function choose(side, at) {
  chosen[side] = chosen[side] === at ? null : at;
  drawNumbers(side);
}
// The frame is made once; what depends on the chosen word is filled in by drawNumbers().
function makeWay(side, title) {
  const words = data.words[side].map((name, at) => {
    const button = el("button", { type: "button", title: `${at + 1}: ${name}`, "aria-pressed": "false" }, word(name));
    button.addEventListener("click", () => choose(side, at));
    return el("li", {}, button);
  });
  $("ways").append(el("div", { data: { way: side } }, el("ol", { className: "words", "aria-label": `Words of the ${side}` }, ...words),
    svg("svg", { viewBox: "0 0 600 190", role: "img", "aria-label": `${title}: length of the stream behind every block` })));
}
function makeTable(block) {
  const columns = [["adds", block.said], ["sum", block.sum], ["stream", block.stream], ["cosine", block.cosine]].filter(([, values]) => values.length);
  return el("table", {}, el("tr", {}, ...["word", ...columns.map(([name]) => name)].map(text => el("th", { scope: "col" }, text))),
    ...block.stream.map((_, at) => el("tr", {}, el("td", {}, word(data.words[block.side][at])), ...columns.map(([, values]) => el("td", {}, digits(values[at]))))));
}
function makeBlock(block) {
  const top = Math.max(...block.stream), last = block.shapes.at(-1)[1];
  const strip = el("div", { className: "strip", "aria-hidden": "true" }, ...block.stream.map((norm, at) => {
    const part = el("i", { title: `${data.words[block.side][at]}: ${digits(norm)}`, style: { background: `rgb(var(--heat) / ${(norm / top).toFixed(3)})` } });
    part.addEventListener("click", () => choose(block.side, at));
    return part;
  }));
  const details = el("details", {}, el("summary", { className: "small" }, "Shapes, and every word"), el("p", { className: "small soft" }, block.shapes.map(([name, sizes]) => `${name} ${shape(sizes)}`).join("  \u2192  ")));
  details.addEventListener("toggle", () => details.append(el("div", { className: "wide" }, makeTable(block))), { once: true });  // hundreds of cells: not before they are asked for
  return el("section", { className: `block ${kindOf(block.name)}` }, el("h4", {}, block.name, el("span", {}, shape(last))), el("code", {}, block.formula), strip, el("p", { className: "numbers" }), details);
}
function makeSide(side, title, where) {
  const column = el("div", { data: { side } }, el("h2", {}, title, el("span", { className: "soft small" }, ` ${where}`))), n = Math.max(...blocks(side).map(block => block.layer));
  let frame = column;
  blocks(side).forEach((block, at) => {
    const first = at === 0 || blocks(side)[at - 1].layer !== block.layer;
    if (first && at) column.append(el("div", { className: "arrow", "aria-hidden": "true" }, "\u2193"));
    const isLayer = block.shapes.some(([name]) => name === "told");
    if (first) { frame = isLayer ? el("div", { className: "layer" }, el("h3", {}, `Layer ${block.layer}`)) : el("div"); column.append(frame); }
    frame.append(makeBlock(block));
  });
  if (side === "encoder") column.append(el("p", { className: "small soft" }, "\u2193 This is the memory that every layer of the decoder reads."));
  $("model").append(column);
}
function drawNumbers(side) {
  document.querySelectorAll(`[data-way=${side}] button`).forEach((button, at) => button.setAttribute("aria-pressed", String(at === chosen[side])));
  const sections = document.querySelectorAll(`[data-side=${side}] .block`);
  blocks(side).forEach((block, at) => {
    const parts = [["adds", block.said], ["sum", block.formula.startsWith("LayerNorm") ? block.sum : []], ["stream", block.stream], ["cosine with before", block.cosine]].filter(([, values]) => values.length)
      .map(([name, values]) => el("span", {}, `${name} `, el("b", {}, digits(shown(side, values)))));
    if (block.active !== null) parts.push(el("span", {}, "active inside ", el("b", {}, percent(block.active))));
    sections[at].querySelector(".numbers").replaceChildren(...parts);
    sections[at].querySelectorAll(".strip i").forEach((part, i) => part.classList.toggle("chosen", i === chosen[side]));
  });
  drawWay(side);
}
function drawWay(side) {
  const picture = document.querySelector(`[data-way=${side}] svg`), all = blocks(side), left = 44, bottom = 30, top = 10;
  const highest = Math.max(...all.flatMap(block => block.stream)) * 1.05, x = at => left + (600 - left - 12) * at / Math.max(1, all.length - 1), y = norm => 190 - bottom - (190 - top - bottom) * norm / highest;
  const line = (name, value) => svg("path", { class: name, d: `M${all.map((block, at) => `${x(at).toFixed(1)} ${y(value(block)).toFixed(1)}`).join("L")}` });
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find(size => highest / size <= 5) ?? highest / 4, marks = [];
  for (let value = 0; value <= highest; value += step) marks.push(svg("path", { class: "grid", d: `M${left} ${y(value)}H588` }), svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, digits(value)));
  let before = -1;
  all.forEach((block, at) => {
    if (block.layer === before) return;
    before = block.layer;
    marks.push(svg("path", { class: "grid", d: `M${x(at)} ${top}V${190 - bottom}` }), svg("text", { x: x(at) + 3, y: 176 }, block.layer === 0 ? "in" : block.shapes.some(([name]) => name === "told") ? String(block.layer) : ""));
  });
  picture.replaceChildren(...marks, svg("text", { x: 588, y: 188, "text-anchor": "end" }, "layer"), line("mean", block => mean(block.stream)), ...(chosen[side] === null ? [] : [line("one", block => block.stream[chosen[side]])]));
}
function makeExpected() {
  $("logits").textContent = `${shape(data.logits)} scores: positions \u00d7 vocabulary. Framed: the token that comes there; behind it its rank where it is not among these.`;
  $("expected").append(el("tr", {}, ...["after", "comes", ...data.predictions[0].best.map((_, at) => `${at + 1}.`)].map(text => el("th", { scope: "col" }, text))), ...data.predictions.map((one, at) =>
    el("tr", {}, el("td", {}, word(data.words.decoder[at])), el("td", {}, word(one.given), el("span", { className: "soft" }, one.rank <= one.best.length ? "" : ` (${one.rank}., ${percent(one.p)})`)),
      ...one.best.map(([name, p], place) => el("td", {}, el("div", { className: `bar ${place + 1 === one.rank ? "right" : ""}`, style: { background: `linear-gradient(to right, rgb(var(--heat) / .35) ${(100 * p).toFixed(1)}%, transparent 0)` } }, word(name), ` ${percent(p)}`))))));
}
facts();
for (const [side, title, where] of SIDES) { makeWay(side, title); makeSide(side, title, where); drawNumbers(side); }
makeExpected();
document.addEventListener("keydown", event => { if (event.key === "Escape") for (const [side] of SIDES) { chosen[side] = null; drawNumbers(side); } });
