// What all pages share: reading the data, making elements with text as text, and colours that follow light and dark.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const el = (tag, properties = {}, ...children) => {
  const { data: own = {}, style = {}, ...rest } = properties, made = document.createElement(tag);
  for (const [name, value] of Object.entries(rest)) {
    if (name in made && !name.includes("-")) made[name] = value; else made.setAttribute(name, value);
  }
  for (const [name, value] of Object.entries(own)) made.dataset[name] = value;
  for (const [name, value] of Object.entries(style)) made.style.setProperty(name, value);
  made.append(...children);  // strings become text nodes
  return made;
};
const svg = (tag, attributes, text = "") => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  return made;
};
const word = text => el("bdi", { dir: "auto" }, text);
// Colours of the style sheet. They are asked for thousands of times in a picture, and change when light becomes dark.
const dark = matchMedia("(prefers-color-scheme: dark)"), colours = new Map();
dark.addEventListener("change", () => colours.clear());
const colour = name => {
  if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return colours.get(name);
};
const decode = (text, Kind) => new Kind(Uint8Array.from(atob(text), char => char.charCodeAt(0)).buffer);
const percent = share => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)}%`;
const digits = value => Math.abs(value) >= 1e-4 || value === 0 ? String(Number(value.toPrecision(4))) : value.toExponential(2).replace(/\.?0+e/, "e");
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
// A canvas that is sharp on every screen; drawing is in units of CSS pixels.
const canvas = (element, width, height) => {
  const scale = window.devicePixelRatio || 1;
  element.width = Math.round(width * scale); element.height = Math.round(height * scale);
  element.style.width = `${width}px`; element.style.height = `${height}px`;
  const drawing = element.getContext("2d");
  drawing.setTransform(scale, 0, 0, scale, 0, 0);
  return drawing;
};
// Draws everything anew when light becomes dark or the window another size.
const onChange = draw => {
  dark.addEventListener("change", draw);
  let waiting = 0;
  window.addEventListener("resize", () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(draw); });
};
const facts = () => {
  if (data.facts) $("facts").append(...data.facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, word(value)))));
};
