/* The bar of the marking tools: which tool, how large, how soft, and what is done with the mask. */

import { byId, element, icon } from "./dom.js";
import { slider } from "./slider.js";

const TOOLS = {
  brush: ["Brush", "Paint over it.", "Keys: arrows move, Space paints, Enter is done, Escape cancels."],
  similar: ["Similar", "Click on it: colours like there are taken, up to the edges.", "Keys: arrows move, Space takes, Enter is done."],
  gradient: ["Gradient", "Drag from where all of it applies to where it ends.", "Keys: arrows move, Space begins and ends, Enter is done."],
};
const SETTINGS = {
  size: { title: "Size", low: 1, high: 100, default: 20, step: 1, suffix: " %", help: "Of the brush; keys [ and ]" },
  soft: { title: "Soft edge", low: 0, high: 100, default: 50, step: 1, suffix: " %", help: "Share of the brush that fades out" },
  tolerance: { title: "Tolerance", low: 1, high: 60, default: 14, step: 1, suffix: "", help: "How different colours may be" },
};
/** By how much a press grows a mask, in pixels of a photo with a short side of 1000. */
const PRESS = 10;
export const REFINE = [
  ["Invert", "Everything else instead (I)", (mask) => mask.invert()],
  ["Grow", "Move its edge outwards", (mask) => mask.grow(PRESS)],
  ["Shrink", "Move its edge inwards", (mask) => mask.grow(-PRESS)],
];
export const values = { size: 20, soft: 50, tolerance: 14 };

/** What a tool is for, in words, with its keys. */
export function explain(tool) {
  const [, help, keys] = TOOLS[tool];
  return `${help} ${keys}`;
}

/** Show the bar for what is being marked; `acts` is what its buttons and sliders do. */
export function show({ tool, target, erase }, acts) {
  const [, help, keys] = TOOLS[tool];
  const choice = (other) => button(TOOLS[other][0], { onclick: () => acts.choose(other), "aria-pressed": String(tool === other) }, icon(other));
  const kind = button("Erase", { onclick: acts.erase, "aria-pressed": String(erase), title: "Take away instead (E)" });
  const used = { brush: ["size", "soft"], similar: ["tolerance"], gradient: [] }[tool];
  const drawn = tool === "gradient" ? [] : REFINE.map(([words, title, work]) => button(words, { onclick: () => acts.refine(work), title }));
  byId("tools").replaceChildren(
    element("div", { className: "row top" },
      element("p", {}, element("strong", {}, target.title), element("span", { className: "faint" }, ` ${help} `, element("span", { className: "keys" }, keys))),
      element("div", { className: "choices" },
        button("Cancel", { onclick: acts.stop, title: "Escape" }),
        button("Done", { onclick: acts.done, className: "main", title: "Enter" }))),
    element("div", { className: "row" },
      element("div", { className: "choices" }, ...Object.keys(TOOLS).map(choice), ...(tool === "gradient" ? [] : [kind])),
      ...used.map((name) => setting(name, acts.set)),
      element("div", { className: "choices" }, ...drawn, button("Undo", { onclick: acts.back, title: "Take back the last stroke (Ctrl+Z)" }))),
  );
}

const button = (words, properties, ...inside) => element("button", { type: "button", ...properties }, ...inside, words);

function setting(name, set) {
  const declared = SETTINGS[name];
  const moving = (value) => { values[name] = value; set(name); };
  return element("div", { className: "labelled" },
    element("span", { className: "label" }, declared.title), slider(declared, declared.title, values[name], moving, () => undefined).node);
}
