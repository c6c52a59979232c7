// Charts of learning rates; the pointer, or the arrow keys, show the values of a step.
let W = 1000;  // as wide as the page allows, so that letters keep their size
const H = 340, EDGE = { left: 74, right: 16, top: 12, bottom: 46 };
const HUES = [212, 24, 140, 345, 272, 178, 46];
const isLog = () => document.querySelector("input[value=log]").checked;
const steps = value => Math.round(value).toLocaleString("en");
const strength = curve => `hsl(${HUES[curve % HUES.length]} 72% var(--level))`;
const round = (span, n) => { const power = 10 ** Math.floor(Math.log10(span / n)); return [1, 2, 5, 10].map(factor => factor * power).find(step => step * n >= span * (1 - 1e-9)); };
function axis(low, high, log, n) {
  const place = log ? value => Math.log(value / low) / Math.log(high / low) : value => (value - low) / (high - low), marks = [];
  if (log) for (let power = Math.ceil(Math.log10(low) - 1e-9); power <= Math.log10(high) + 1e-9; power++) marks.push(10 ** power);
  else for (let step = round(high - low, n), value = Math.ceil(low / step) * step; value <= high * (1 + 1e-9); value += step) marks.push(Number(value.toPrecision(12)));
  return { place, marks };
}
const valueAt = (points, step) => {  // between two points in a straight line; nothing behind the last one
  if (step > points.at(-1)[0]) return null;
  let next = points.findIndex(point => point[0] >= step);
  if (next <= 0) return points[0][1];
  const [[a, low], [b, high]] = [points[next - 1], points[next]];
  return low + (high - low) * (step - a) / (b - a);
};
function drawChart(chart, number) {
  const log = isLog(), all = chart.curves.flatMap(curve => curve.points), last = Math.max(...all.map(point => point[0]));
  const rates = all.map(point => point[1]).filter(rate => rate > 0), top = Math.max(...rates);
  const across = axis(log ? 1 : 0, last, log, W < 600 ? 3 : 6), up = axis(log ? Math.max(Math.min(...rates), top / 1e5) : 0, top * (log ? 1.3 : 1.05), log, 6);
  const x = step => EDGE.left + (W - EDGE.left - EDGE.right) * across.place(step), y = rate => H - EDGE.bottom - (H - EDGE.top - EDGE.bottom) * clamp(up.place(Math.max(rate, 1e-12)), 0, 1);
  const picture = svg("svg", { viewBox: `0 0 ${W} ${H}`, tabindex: 0, role: "img", "aria-label": `${chart.title}. ${chart.curves.map(curve => `${curve.name}: highest at step ${steps(curve.peak[0])} with ${digits(curve.peak[1])}`).join(". ")}.` });
  picture.append(
    ...up.marks.flatMap(mark => [svg("path", { class: "grid", d: `M${EDGE.left} ${y(mark)}H${W - EDGE.right}` }), svg("text", { x: EDGE.left - 7, y: y(mark) + 4, "text-anchor": "end" }, digits(mark))]),
    ...across.marks.map(mark => svg("text", { x: x(mark), y: H - 26, "text-anchor": x(mark) > W - 60 ? "end" : "middle" }, steps(mark))),
    svg("path", { class: "base", d: `M${EDGE.left} ${H - EDGE.bottom}H${W - EDGE.right}` }), svg("text", { x: W / 2, y: H - 6, "text-anchor": "middle" }, log ? "step (logarithmic)" : "step"),
    ...chart.curves.map((curve, i) => svg("path", { class: "line", style: `--of: ${strength(i)}`, d: `M${curve.points.map(([step, rate]) => `${x(step).toFixed(1)} ${y(rate).toFixed(1)}`).join("L")}` })),
  );
  const cross = svg("path", { class: "cross", d: "" }), dots = chart.curves.map((_, i) => svg("circle", { class: "at", style: `--of: ${strength(i)}`, r: 5, visibility: "hidden" }));
  picture.append(cross, ...dots);
  const values = chart.curves.map(curve => el("b", {}, `peak ${digits(curve.peak[1])} at step ${steps(curve.peak[0])}`));
  const figure = el("figure", { className: "card", data: { chart: number } }, el("h2", {}, chart.title), picture, el("ul", { className: "keys" }, ...chart.curves.map((curve, i) => el("li", { style: { "--of": strength(i) } }, `${curve.name}: `, values[i]))));
  let step = Math.round(last / 4);
  const show = wanted => {
    step = clamp(Math.round(wanted), 1, last);
    cross.setAttribute("d", `M${x(step)} ${EDGE.top}V${H - EDGE.bottom}`);
    chart.curves.forEach((curve, i) => {
      const rate = valueAt(curve.points, step);
      dots[i].setAttribute("visibility", rate === null ? "hidden" : "visible");
      if (rate !== null) { dots[i].setAttribute("cx", x(step)); dots[i].setAttribute("cy", y(rate)); }
      values[i].textContent = rate === null ? `ended at step ${steps(curve.points.at(-1)[0])}` : `${digits(rate)} at step ${steps(step)}`;
    });
  };
  picture.addEventListener("pointermove", event => {
    const box = picture.getBoundingClientRect(), share = ((event.clientX - box.left) / box.width * W - EDGE.left) / (W - EDGE.left - EDGE.right);
    show(log ? last ** clamp(share, 0, 1) : last * share);
  });
  picture.addEventListener("keydown", event => {
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!way) return;
    event.preventDefault();
    show(log ? step * 1.1 ** way + way * 0.5 : step + way * last / 100);
  });
  return figure;
}
const draw = () => { W = clamp($("charts").clientWidth - 34, 300, 1300); $("charts").replaceChildren(...data.charts.map(drawChart)); };
document.querySelectorAll("input[name=axes]").forEach(choice => choice.addEventListener("change", draw));
draw();
onChange(draw);
