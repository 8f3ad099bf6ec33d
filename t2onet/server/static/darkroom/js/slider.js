/* A slider with its number, made from the declaration of a parameter. */

import { element } from "./dom.js";

/** A number as photographers write it: "+0.50 EV", "-30", "200°". */
export function written({ low, step, suffix = "" }, value) {
  const places = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const number = value.toFixed(places);
  return `${low < 0 && !number.startsWith("-") && Number(number) !== 0 ? "+" : ""}${number}${suffix}`;
}

/**
 * `declared` is {low, high, default, step, suffix, help}. `moving(value)` is called while it moves, `done()` when it rests.
 * A double click goes back to the default.
 */
export function slider(declared, label, value, moving, done) {
  const shape = { min: declared.low, max: declared.high, step: declared.step, title: declared.help };
  const range = element("input", { type: "range", ...shape, value });
  const number = element("input", { type: "text", inputMode: "decimal", className: "number", title: declared.help });
  range.setAttribute("aria-label", label);
  number.setAttribute("aria-label", `${label}, number`);
  const node = element("div", { className: "slider" }, range, number);
  let shown = value;

  function show(now) {
    shown = now;
    if (document.activeElement !== number) number.value = written(declared, now);
    range.value = now;
    range.setAttribute("aria-valuetext", written(declared, now));
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

  function nudge(event) {
    const way = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    move(shown + way * declared.step);
    number.value = written(declared, shown);
    done();
  }

  range.addEventListener("input", () => move(range.valueAsNumber));
  number.addEventListener("focus", () => number.select());
  number.addEventListener("input", () => move(parseFloat(number.value.replace(",", "."))));
  number.addEventListener("keydown", nudge);
  number.addEventListener("blur", () => show(shown));
  for (const one of [range, number]) one.addEventListener("change", done);
  range.addEventListener("dblclick", () => { move(declared.default); done(); });
  show(value);
  return { node, show };
}
