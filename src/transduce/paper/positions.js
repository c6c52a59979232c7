// The positional encoding: heat map, circle and products. All numbers were computed by the model's own function.
const table = decode(data.table, Int16Array), at = (pos, dim) => table[pos * data.d_model + dim] / 32767;
let place = [10, 40];
const rgb = name => { const pen = document.createElement("canvas").getContext("2d"); pen.fillStyle = colour(name); pen.fillRect(0, 0, 1, 1); return pen.getImageData(0, 0, 1, 1).data; };

// Which dimension stands in a column: as in the vector, or all sines first and then all cosines.
const half = data.d_model / 2, apart = () => document.querySelector("input[value=apart]").checked;
const dimOf = column => apart() ? (column < half ? 2 * column : 2 * (column - half) + 1) : column;
const columnOf = dim => apart() ? (dim >> 1) + (dim % 2 ? half : 0) : dim;
function drawMap() {
  const map = $("map"), pen = map.getContext("2d"), [high, low, none] = [rgb("--c0"), rgb("--c1"), rgb("--card")];
  map.width = data.d_model; map.height = 2 * data.n;
  const image = pen.createImageData(data.d_model, 2 * data.n);
  for (let row = 0; row < 2 * data.n; row++) for (let column = 0; column < data.d_model; column++) {
    const value = at(row >> 1, dimOf(column)), end = value >= 0 ? high : low, part = Math.abs(value);
    for (let c = 0; c < 3; c++) image.data[4 * (row * data.d_model + column) + c] = none[c] + part * (end[c] - none[c]);
    image.data[4 * (row * data.d_model + column) + 3] = 255;
  }
  pen.putImageData(image, 0, 0);
  pen.strokeStyle = colour("--ink"); pen.lineWidth = 1;
  pen.strokeRect(columnOf(place[1]) - 2.5, 2 * place[0] - 1.5, 5, 5);
  const [pos, dim] = place, pair = dim >> 1;
  $("said").textContent = `position ${pos}, dimension ${dim} (${dim % 2 ? "cosine" : "sine"} of pair ${pair}, which comes round every ${digits(data.periods[pair])} positions): ${at(pos, dim).toFixed(4)}`;
  document.querySelector("#legend i").style.background = `linear-gradient(to right, ${colour("--c1")}, ${colour("--card")}, ${colour("--c0")})`;
}
function move(pos, dim) { place = [clamp(pos, 0, data.n - 1), clamp(dim, 0, data.d_model - 1)]; drawMap(); }

function drawCircle() {
  const value = id => Number($(id).value), pair = value("pair"), pos = value("pos"), k = Math.min(value("k"), data.n - 1 - pos);
  for (const id of ["pos", "k", "pair"]) $(id).nextElementSibling.textContent = id === "k" ? k : value(id);
  const R = 118, point = p => [R * at(p, 2 * pair + 1), -R * at(p, 2 * pair)], [x, y] = point(pos), [u, v] = point(pos + k);
  const turn = 2 * Math.PI * k / data.periods[pair], start = 2 * Math.PI * pos / data.periods[pair], arc = [];
  for (let i = 0; i <= 60; i++) { const angle = start + turn * i / 60; arc.push(`${(0.45 * R * Math.cos(angle)).toFixed(1)} ${(-0.45 * R * Math.sin(angle)).toFixed(1)}`); }
  $("circle").replaceChildren(
    svg("circle", { class: "ring", r: R }), svg("path", { class: "ring", d: `M${-R - 12} 0H${R + 12}M0 ${-R - 12}V${R + 12}` }),
    svg("text", { x: R - 2, y: -8, "text-anchor": "end" }, "cosine"), svg("text", { x: 8, y: -R - 16 }, "sine"),
    svg("path", { class: "from", d: `M0 0L${x} ${y}` }), svg("path", { class: "to", d: `M0 0L${u} ${v}` }),
    svg("path", { class: "arc", d: `M${arc.join("L")}` }), svg("circle", { class: "dot", cx: u, cy: v, r: 7 }), svg("circle", { class: "from", cx: x, cy: y, r: 4 }),
  );
  const degrees = turn * 180 / Math.PI;
  // The place that the rotation gives, beside the one in the table: numbers to compare, not a picture to believe.
  const [s, c] = [at(pos, 2 * pair), at(pos, 2 * pair + 1)], turned = [s * Math.cos(turn) + c * Math.sin(turn), c * Math.cos(turn) - s * Math.sin(turn)];
  $("turned").textContent = `Pair ${pair} comes round every ${digits(data.periods[pair])} positions. ${k} positions turn it by ${digits(degrees)}°: `
    + `(${s.toFixed(3)}, ${c.toFixed(3)}) becomes (${turned.map(value => value.toFixed(3)).join(", ")}); in the table stands (${at(pos + k, 2 * pair).toFixed(3)}, ${at(pos + k, 2 * pair + 1).toFixed(3)}).`;
}
function drawProducts() {
  const whole = clamp($("products").parentElement.clientWidth - 34, 300, 1300);  // letters keep their size
  $("products").setAttribute("viewBox", `0 0 ${whole} 200`);
  const [left, right, top, bottom] = [44, 10, 12, 34], width = whole - left - right, height = 200 - top - bottom, middle = data.n / 2;
  const low = Math.min(0, ...data.products), x = i => left + width * i / (data.n - 1), y = value => top + height * (1 - (value - low) / (1 - low));
  const marks = [0, 0.25, 0.5, 0.75, 1].flatMap(value => [
    svg("path", { class: "ring", d: `M${left} ${y(value)}H${whole - right}` }), svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, String(value))]);
  const across = [-60, -40, -20, 0, 20, 40, 60].map(k => svg("text", { x: x(middle + k), y: 186, "text-anchor": "middle" }, k === 0 ? "k = 0" : String(k)));
  $("products").replaceChildren(...marks, ...across, svg("path", { class: "to", fill: "none", d: `M${data.products.map((value, i) => `${x(i).toFixed(1)} ${y(value).toFixed(1)}`).join("L")}` }));
}
$("checks").append(
  el("tr", {}, ...["k", "float64", "float32, as the model adds it"].map(text => el("th", { scope: "col" }, text))),
  ...data.checks.map(([k, exact, added]) => el("tr", {}, el("td", {}, String(k)), el("td", {}, exact.toExponential(1)), el("td", {}, added.toExponential(1)))),
);
$("pos").max = data.n - 1; $("k").max = 60; $("pair").max = data.d_model / 2 - 1;
$("pos").value = 7; $("k").value = 3; $("pair").value = Math.min(20, data.d_model / 2 - 1);
document.querySelectorAll("input[name=order]").forEach(choice => choice.addEventListener("change", drawMap));
for (const id of ["pos", "k", "pair"]) $(id).addEventListener("input", drawCircle);
$("map").addEventListener("pointermove", event => {
  const box = $("map").getBoundingClientRect();
  move(Math.floor((event.clientY - box.top) / box.height * data.n), dimOf(clamp(Math.floor((event.clientX - box.left) / box.width * data.d_model), 0, data.d_model - 1)));
});
$("map").addEventListener("keydown", event => {
  const by = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key];
  if (by) { event.preventDefault(); move(place[0] + by[0], dimOf(clamp(columnOf(place[1]) + by[1], 0, data.d_model - 1))); }
});
const draw = () => { drawMap(); drawCircle(); drawProducts(); };
move(10, Math.min(40, data.d_model - 1));
draw();
onChange(draw);
