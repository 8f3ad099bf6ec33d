/* How strong the edit is: a slider about the same edit, however often it is set. */

import { byId, element } from "./dom.js";
import { newest } from "./newest.js";
import { change, on, state } from "./room.js";
import { slider } from "./slider.js";

const DECLARED = {
  name: "strength", low: 0, high: 2, default: 1, step: 0.01,
  help: "0 is the photo itself, 1 the edit as it was answered, above it stronger",
};
let made = null;
let held = false;

export function setUp() {
  const set = newest((strength) => change("POST", "strength", { strength }));
  made = slider(DECLARED, "Strength", 1, (now) => { held = true; set(now); }, () => { held = false; });
  byId("strength").append(element("span", { className: "label" }, "Strength"), made.node);
  on("edit", refresh);
}

function refresh() {
  const { strength, recipe } = state();
  byId("strength").hidden = recipe.steps.length === 0 && strength === 1;
  if (!held) made.show(Math.min(strength, DECLARED.high));
}

/** Weaker or stronger by one press of a key. */
export function nudge(by) {
  const to = Math.min(4, Math.max(0, state().strength + by));
  return change("POST", "strength", { strength: Math.round(100 * to) / 100 });
}
