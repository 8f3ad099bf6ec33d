/* The controls of an operation, made from its declaration: curves, or a slider for each number. */

import { curves } from "./curve.js";
import { capital, element } from "./dom.js";
import { slider } from "./slider.js";

export const isCurve = (operation) => operation.parameters.some((one) => one.curve);

export const defaults = (operation) => operation.parameters.flatMap((one) => Array(one.count).fill(one.default));

/** How many numbers an operation has; curves count as one. */
export const size = (operation) => (isCurve(operation) ? 1 : defaults(operation).length);

/** `moving(values)` is called while something moves, `done()` when it rests; `show(values)` brings them up to date. */
export function controls(operation, values, { moving, done, labelled = true }) {
  let now = [...values];
  if (isCurve(operation)) {
    const made = curves(operation, now, (moved) => moving([...moved]), done);
    return { node: made.node, show: made.show };
  }
  const rows = [];
  const row = (declared, title, name = title) => {
    const at = rows.length;
    const made = slider(declared, capital(title), now[at], (value) => { now = now.with(at, value); moving(now); }, done);
    rows.push(made);
    if (!labelled) return made.node;
    const label = element("span", { className: "label", title: declared.help }, capital(name));
    return element("div", { className: "labelled" }, label, made.node);
  };
  const inside = operation.parameters.flatMap((one) => [
    ...(one.names.length ? [element("h3", { className: "values", title: one.help }, capital(one.name))] : []),
    ...one.titles.map((title, at) => row(one, title, one.names[at])),
  ]);
  return {
    node: element("div", { className: "controls" }, ...inside),
    show(after) {
      now = [...after];
      rows.forEach((one, at) => one.show(now[at]));
    },
  };
}
