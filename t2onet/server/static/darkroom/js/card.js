/* One step of the recipe as a card: what it does and why, and controls made from the declaration of its operation. */

import { controls as controlsOf, isCurve, size } from "./controls.js";
import { knots, path } from "./curve.js";
import { capital, drawn, element, iconButton } from "./dom.js";
import { menu } from "./menu.js";

const SMALL = 22;
/** A step with more numbers than this is folded. */
const FEW = 2;

/**
 * `heard` has moving(), done(), toggle(), remove(), fold(open), grip(button), which makes a button move the card,
 * place(part), which puts the step elsewhere in the photo, and number(), its number among the steps that are on.
 * `show(entry)` brings the card up to date while it stays where it is.
 */
export function card(entry, operation, opened, heard) {
  const name = operation.label;
  const folds = isCurve(operation) || size(operation) > FEW;
  const does = element("p", { className: "does" });
  const spark = drawn("svg", { viewBox: `0 0 ${SMALL} ${SMALL}`, class: "spark", "aria-hidden": "true" });
  const controls = controlsOf(operation, entry.step.parameters, {
    moving(values) { entry.step.parameters = [...values]; sparkle(spark, entry, operation); heard.moving(); },
    done: heard.done,
    labelled: size(operation) > 1,
  });

  const unfold = element("button", { type: "button", className: "name", title: operation.help }, capital(name), spark);
  const toggle = element("input", {
    type: "checkbox", className: "switch", checked: entry.on, onchange: heard.toggle,
    title: "On or off", "aria-label": `${name} is on`,
  });
  const remove = iconButton("close", `Remove ${name}`, { onclick: heard.remove });
  const grip = iconButton("grip", `Move ${name}: drag, or arrow keys`, { className: "quiet small grip" });
  heard.grip(grip);

  const head = element("div", { className: "head" }, grip, toggle, unfold, remove);
  const where = operation.parameters.length && operation.group !== "geometry" ? menu(name, heard) : null;
  const node = element("li", { className: "card" }, head, does, ...(where ? [where.node] : []), controls.node);
  node.classList.toggle("off", !entry.on);
  fold(opened);
  if (folds) unfold.addEventListener("click", () => { fold(controls.node.hidden); heard.fold(!controls.node.hidden); });
  else unfold.disabled = true;

  function fold(open) {
    controls.node.hidden = !open && folds;
    if (folds) unfold.setAttribute("aria-expanded", String(!controls.node.hidden));
  }

  function show(now) {
    entry = now;
    controls.show(now.step.parameters);
    sparkle(spark, now, operation);
    where?.show(now);
    does.replaceChildren(...told(now, folds && !isCurve(operation)));
  }
  show(entry);
  return { node, show, focus: () => grip.focus() };
}

/** What the step does, its numbers where they are folded, and the words that led to it. */
function told(entry, numbers) {
  if (!entry.told) return [entry.on ? "" : "switched off"];
  const words = entry.told.because;
  const quoted = words.flatMap((one, at) => [...(at ? [", "] : []), element("q", {}, one)]);
  const why = words.length ? [" because of ", ...quoted] : [];
  return [entry.told.does, ...(numbers ? [` (${entry.told.settings})`] : []), ...why];
}

function sparkle(spark, entry, operation) {
  let begin = 0;
  const lines = [];
  for (const { name, count, curve } of operation.parameters) {
    const values = entry.step.parameters.slice(begin, (begin += count));
    if (curve) lines.push(drawn("path", { class: `line active ${name}`, d: path(knots(values), SMALL) }));
  }
  spark.replaceChildren(...lines);
}
