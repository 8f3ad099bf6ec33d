/* A curve to draw on: rises of straight pieces from dark to light, shown as knots that can be moved. */

import { drawn, element } from "./dom.js";

const SIZE = 200;
const SOFT = [1, 0.65, 0.25];
/** How much of a move the neighbours of a knot take part in; none of it while Shift is held. */

/** Knots 0..1 from rises: running sums over their total. */
export function knots(rises) {
  const total = rises.reduce((sum, one) => sum + one, 0);
  let height = 0;
  return [0, ...rises.map((one) => (height += one) / total)];
}

/** Rises from knots, with a mean of 1, within what is allowed. */
export function rises(heights, low, high) {
  const count = heights.length - 1;
  return heights.slice(1).map((one, at) => Math.min(high, Math.max(low, count * (one - heights[at]))));
}

/** Knots after one was moved to a height; the ends stay, and no piece falls. */
export function bent(heights, at, to, alone, least) {
  const by = to - heights[at];
  const last = heights.length - 1;
  const made = heights.map((one, here) => {
    const share = alone ? Number(here === at) : SOFT[Math.abs(here - at)] ?? 0;
    return here === 0 || here === last ? one : one + share * by;
  });
  for (let here = 1; here < last; here++) made[here] = Math.max(made[here], made[here - 1] + least);
  for (let here = last - 1; here > 0; here--) made[here] = Math.min(made[here], made[here + 1] - least);
  return made;
}

export const path = (heights, size = SIZE) =>
  heights.map((one, at) => `${at ? "L" : "M"}${(size * at) / (heights.length - 1)} ${size * (1 - one)}`).join("");

/**
 * An editor of one parameter's curve, or of several with a tab for each. `values` has the numbers of all parameters
 * one after the other; `moving(values)` is called while a knot moves, `done()` when it rests.
 */
export function curves(operation, values, moving, done) {
  const declared = operation.parameters;
  const plot = drawn("svg", {
    viewBox: `-8 -8 ${SIZE + 16} ${SIZE + 16}`, class: "curve", role: "group", "aria-label": `${operation.name} curve`,
  });
  const grid = [1, 2, 3].map((one) => (SIZE * one) / 4);
  plot.append(drawn("path", { class: "grid", d: grid.map((one) => `M${one} 0V${SIZE}M0 ${one}H${SIZE}`).join("") }));
  plot.append(drawn("path", { class: "grid", d: `M0 ${SIZE}L${SIZE} 0M0 0H${SIZE}V${SIZE}H0Z` }));
  const lines = declared.map((one) => plot.appendChild(drawn("path", { class: `line ${one.name}` })));
  plot.append(drawn("rect", { class: "hit", width: SIZE, height: SIZE }));
  const dots = plot.appendChild(drawn("g"));
  const tabs = element("div", { className: "tabs", role: "group", "aria-label": "Channel" });
  const node = element("div", { className: "curves" }, ...(declared.length > 1 ? [tabs] : []), plot);
  let active = 0;
  let held = null;

  const begins = (channel) => declared.slice(0, channel).reduce((sum, one) => sum + one.count, 0);
  const part = (channel) => values.slice(begins(channel), begins(channel) + declared[channel].count);

  function put(heights) {
    const { low, high } = declared[active];
    values.splice(begins(active), declared[active].count, ...rises(heights, low, high));
    draw();
    moving(values);
  }

  const bend = (at, to, alone) => {
    const heights = knots(part(active));
    put(bent(heights, at, Math.min(1, Math.max(0, to)), alone, declared[active].low / declared[active].count));
  };

  function draw() {
    lines.forEach((line, channel) => {
      line.setAttribute("d", path(knots(part(channel))));
      line.classList.toggle("active", channel === active);
    });
    const heights = knots(part(active));
    while (dots.children.length > heights.length - 2) dots.lastChild.remove();
    while (dots.children.length < heights.length - 2) dots.append(knot(dots.children.length + 1));
    heights.slice(1, -1).forEach((height, at) => {
      const dot = dots.children[at];
      dot.setAttribute("cx", (SIZE * (at + 1)) / (heights.length - 1));
      dot.setAttribute("cy", SIZE * (1 - height));
      const percent = Math.round(100 * height);
      dot.setAttribute("aria-valuenow", percent);
      dot.setAttribute("aria-valuetext", `${Math.round((100 * (at + 1)) / (heights.length - 1))} % becomes ${percent} %`);
      dot.setAttribute("aria-label", `${declared[active].name}, knot ${at + 1}`);
    });
    [...tabs.children].forEach((tab, channel) => tab.setAttribute("aria-pressed", String(channel === active)));
  }

  function knot(at) {
    const dot = drawn("circle", {
      r: 5, class: "knot", role: "slider", tabindex: 0,
      "aria-valuemin": 0, "aria-valuemax": 100, "aria-orientation": "vertical",
    });
    dot.addEventListener("keydown", (event) => {
      const way = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      if (!way) return;
      event.preventDefault();
      bend(at, knots(part(active))[at] + way * 0.01, event.shiftKey);
      done();
    });
    return dot;
  }

  const place = (event) => {
    const matrix = plot.getScreenCTM().inverse();
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
    return { x: point.x / SIZE, y: 1 - point.y / SIZE };
  };

  plot.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const { x } = place(event);
    const count = declared[active].count;
    held = Math.min(count - 1, Math.max(1, Math.round(x * count)));
    plot.setPointerCapture(event.pointerId);
    dots.children[held - 1].focus();
    event.preventDefault();
  });
  plot.addEventListener("pointermove", (event) => { if (held !== null) bend(held, place(event).y, event.shiftKey); });
  for (const ends of ["pointerup", "pointercancel"]) {
    plot.addEventListener(ends, () => { if (held !== null) { held = null; done(); } });
  }
  plot.addEventListener("dblclick", () => {
    put(knots(Array(declared[active].count).fill(declared[active].default)));
    done();
  });

  declared.forEach((one, channel) => tabs.append(element("button", {
    type: "button", className: `quiet small ${one.name}`, onclick: () => { active = channel; draw(); },
  }, one.name)));
  draw();
  return { node, show(now) { if (held === null) { values = [...now]; draw(); } } };
}
