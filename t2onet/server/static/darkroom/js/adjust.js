/* Sliders of all operations by group, above the recipe: moving one changes the step of its operation, or adds it. */

import { controls, size } from "./controls.js";
import { byId, capital, element, remembered } from "./dom.js";
import { adjust, letGo, valuesOf } from "./recipe.js";
import { on, room } from "./room.js";

const GROUPS = ["light", "colour", "detail", "effects", "geometry"];
const WIDE = "(min-width: 48.01rem)";
/** An operation with more numbers than this is folded behind its name. */
const FEW = 3;
let made = [];

export function setUp() {
  on("edit", refresh);
  on("tried", refresh);
}

/** Make the groups, from the declarations of the operations. */
export function offer() {
  const plain = [...room.operations.values()].filter((one) => !one.repair);
  plain.sort((one, other) => one.position - other.position);
  const groups = GROUPS.map((group) => [group, plain.filter((one) => one.group === group)]);
  byId("adjust").append(...groups.filter(([, inside]) => inside.length).map(([group, inside]) => folded(
    group, "group", capital(group),
    ...inside.filter((one) => one.common).map(row),
    ...more(group, inside.filter((one) => !one.common)),
  )));
}

const more = (group, inside) => (inside.length ? [folded(`${group}-more`, "more", "More", ...inside.map(row))] : []);

function row(operation) {
  const shown = controls(operation, valuesOf(operation), {
    moving: (values) => adjust(operation, values), done: () => letGo(operation),
  });
  made.push({ operation, show: shown.show });
  const long = size(operation) > FEW || operation.parameters.some((one) => one.curve);
  return long ? folded(operation.name, "tool", capital(operation.label), shown.node) : shown.node;
}

/** Something to unfold, which this browser remembers. */
function folded(name, kind, title, ...inside) {
  const first = name === GROUPS[0] && matchMedia(WIDE).matches ? "open" : "";
  const node = element("details", { className: kind, open: remembered.get(`unfold-${name}`, first) === "open" },
    element("summary", {}, title), ...inside);
  node.addEventListener("toggle", () => remembered.set(`unfold-${name}`, node.open ? "open" : "closed"));
  return node;
}

function refresh() {
  for (const { operation, show } of made) show(valuesOf(operation));
}
