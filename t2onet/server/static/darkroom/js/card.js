/* One step of the recipe as a card: what it does and why, and controls made from the declaration of its operation. */

import { curves, knots, path } from "./curve.js";
import { drawn, element, iconButton } from "./dom.js";
import { slider } from "./slider.js";

const SMALL = 22;

/**
 * `heard` has moving(), done(), toggle(), remove(), fold(open), and grip(button), which makes a button move the card.
 * `show(entry)` brings the card up to date while it stays where it is.
 */
export function card(entry, operation, opened, heard) {
  const name = entry.step.operation;
  const isCurve = operation.parameters.some((one) => one.count > 1);
  const does = element("p", { className: "does" });
  const spark = drawn("svg", { viewBox: `0 0 ${SMALL} ${SMALL}`, class: "spark", "aria-hidden": "true" });
  const controls = isCurve ? curveOf(entry, operation, heard) : slidersOf(entry, operation, heard);

  const unfold = element("button", { type: "button", className: "name", title: operation.help }, name, spark);
  const toggle = element("input", {
    type: "checkbox", className: "switch", checked: entry.on, onchange: heard.toggle,
    title: "On or off", "aria-label": `${name} is on`,
  });
  const remove = iconButton("close", `Remove ${name}`, { onclick: heard.remove });
  const grip = iconButton("grip", `Move ${name}: drag, or arrow keys`, { className: "quiet small grip" });
  heard.grip(grip);

  const head = element("div", { className: "head" }, grip, toggle, unfold, remove);
  const node = element("li", { className: "card" }, head, does, controls.node);
  node.classList.toggle("off", !entry.on);
  fold(opened);
  if (isCurve) unfold.addEventListener("click", () => { fold(controls.node.hidden); heard.fold(!controls.node.hidden); });
  else unfold.disabled = true;

  function fold(open) {
    controls.node.hidden = !open && isCurve;
    if (isCurve) unfold.setAttribute("aria-expanded", String(!controls.node.hidden));
  }

  function show(now) {
    entry = now;
    controls.show(now);
    sparkle(spark, now, operation);
    does.replaceChildren(...told(now));
  }
  show(entry);
  return { node, show, focus: () => grip.focus() };

  function curveOf(first, from, { moving, done }) {
    const made = curves(from, [...first.step.parameters], (values) => {
      entry.step.parameters = [...values];
      sparkle(spark, entry, from);
      moving();
    }, done);
    return { node: made.node, show: (now) => made.show(now.step.parameters) };
  }

  function slidersOf(first, from, { moving, done }) {
    const rows = from.parameters.map((declared, at) => {
      const label = from.parameters.length > 1 ? `${name} ${declared.name}` : name;
      const move = (value) => { entry.step.parameters[at] = value; moving(); };
      return slider(declared, label, first.step.parameters[at], move, done);
    });
    return {
      node: element("div", {}, ...rows.map((row) => row.node)),
      show: (now) => rows.forEach((row, at) => row.show(now.step.parameters[at])),
    };
  }
}

/** What the step does, and the words that led to it. */
function told(entry) {
  if (!entry.told) return [entry.on ? "" : "switched off"];
  const words = entry.told.because;
  const quoted = words.flatMap((one, at) => [...(at ? [", "] : []), element("q", {}, one)]);
  const why = words.length ? [" because of ", ...quoted] : [];
  return [entry.told.does, ...(entry.told.masked ? [", in a part of the photo"] : []), ...why];
}

function sparkle(spark, entry, operation) {
  let begin = 0;
  const lines = [];
  for (const { name, count } of operation.parameters) {
    const values = entry.step.parameters.slice(begin, (begin += count));
    if (count > 1) lines.push(drawn("path", { class: `line active ${name}`, d: path(knots(values), SMALL) }));
  }
  spark.replaceChildren(...lines);
}
