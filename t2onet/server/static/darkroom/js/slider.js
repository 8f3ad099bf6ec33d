/* A slider with its number, made from the declaration of a parameter. */

import { element } from "./dom.js";

/**
 * `declared` is {name, low, high, default, step, help}. `moving(value)` is called while it moves, `done()` when it rests.
 * A double click goes back to the default.
 */
export function slider(declared, label, value, moving, done) {
  const places = Math.max(0, -Math.floor(Math.log10(declared.step)));
  const shape = { min: declared.low, max: declared.high, step: declared.step, title: declared.help };
  const range = element("input", { type: "range", ...shape, value });
  const number = element("input", { type: "number", ...shape, value: value.toFixed(places) });
  range.setAttribute("aria-label", label);
  number.setAttribute("aria-label", `${label}, number`);
  const node = element("div", { className: "slider" }, range, number);

  function show(now) {
    if (document.activeElement !== number) number.value = now.toFixed(places);
    range.value = now;
    const share = (at) => `${(100 * (at - declared.low)) / (declared.high - declared.low)}%`;
    range.style.setProperty("--from", share(Math.min(now, declared.default)));
    range.style.setProperty("--to", share(Math.max(now, declared.default)));
    range.style.setProperty("--rest", share(declared.default));
  }

  function move(to) {
    if (!Number.isFinite(to)) return;
    const now = Math.min(declared.high, Math.max(declared.low, to));
    show(now);
    moving(now);
  }

  range.addEventListener("input", () => move(range.valueAsNumber));
  number.addEventListener("input", () => move(number.valueAsNumber));
  for (const one of [range, number]) one.addEventListener("change", done);
  range.addEventListener("dblclick", () => { move(declared.default); done(); });
  show(value);
  return { node, show };
}
