/* The recipe beside the photo: its steps can be switched off, moved, removed and adjusted. */

import { card } from "./card.js";
import { defaults } from "./controls.js";
import { byId } from "./dom.js";
import * as overlay from "./overlay.js";
import { change, on, room, soon, state, tell } from "./room.js";
import { asideOf, fresh, isDefault, listed, moved, placed, placeOf, recipeOf, sameShape, stepOf } from "./steps.js";

let list = [];
let cards = [];
let shownFor = null;
let touched = false;
const opened = new Set();

/** The recipe as it is shown, which may be a moment ahead of the one that the server has. */
export const draft = () => recipeOf(list);

export function setUp() {
  on("photo", () => opened.clear());
  on("edit", refresh);
  byId("reset").addEventListener("click", () => put([]));
}

/** The numbers of an operation: of its step, or its defaults. */
export const valuesOf = (operation) => stepOf(list, operation)?.step.parameters ?? defaults(operation);

/** Set the numbers of an operation: of its step, or of a new one where it usually stands. */
export function adjust(operation, values) {
  let entry = stepOf(list, operation);
  if (!entry) {
    entry = fresh(operation);
    list.splice(placeOf(list, operation, room.operations), 0, entry);
    build();
  }
  entry.step.parameters = [...values];
  touched = true;
  cards[list.indexOf(entry)].show(entry);
  tell("tried");
}

/** Put what was adjusted; a step that does nothing goes. */
export const letGo = (operation) => soon(() => {
  const entry = stepOf(list, operation);
  return put(entry && isDefault(entry, operation) ? list.filter((one) => one !== entry) : list);
});

function refresh() {
  const now = listed(state(), room.operations);
  const same = shownFor === room.current && cards.length === now.length && sameShape(list, now);
  if (same && touched) now.forEach((one, at) => { one.step = list[at].step; });
  shownFor = room.current;
  list = now;
  if (same) cards.forEach((one, at) => one.show(list[at]));
  else build();
}

function build() {
  touched = false;
  overlay.pin(null);
  cards = list.map((entry, at) => {
    const name = entry.step.operation;
    const operation = room.operations.get(name) ?? { parameters: [], help: "", label: name };
    return card(entry, operation, opened.has(name), {
      moving: () => { touched = true; tell("tried"); },
      done: () => soon(() => put(list)),
      toggle: () => put(list.map((one, here) => (here === at ? { ...one, on: !one.on } : one))),
      remove: () => put(list.filter((_, here) => here !== at)),
      fold: (open) => (open ? opened.add(name) : opened.delete(name)),
      grip: (button) => movable(button, at),
      place: (part) => put(placed(list, at, part, room.operations)),
      number: () => list.slice(0, at).filter((one) => one.on).length,
    });
  });
  byId("steps").replaceChildren(...cards.map((one) => one.node));
  byId("no-steps").hidden = list.length > 0;
  byId("reset").disabled = list.length === 0;
}

async function put(now) {
  touched = false;
  const answer = await change("PUT", "recipe", { recipe: recipeOf(now), aside: asideOf(now) });
  if (!answer) { shownFor = null; refresh(); }
  return answer;
}

/** Put another answer to the request, or a recipe that is `new`: a look, which no words led to. */
export const use = (recipe, isNew = false) => change("PUT", "recipe", { recipe, new: isNew });

/** A card goes where its grip is dragged, or by the arrow keys. */
function movable(button, at) {
  button.addEventListener("keydown", async (event) => {
    const to = at + ({ ArrowUp: -1, ArrowDown: 1 }[event.key] ?? NaN);
    if (!(to >= 0 && to < list.length)) return;
    event.preventDefault();
    const now = [...list];
    moved(now, at, to);
    await put(now);
    cards[to]?.focus();
  });
  button.addEventListener("pointerdown", (event) => {
    const node = button.closest("li");
    let to = at;
    button.setPointerCapture(event.pointerId);
    node.classList.add("moving");
    const move = (moving) => {
      const others = cards.map((one) => one.node).filter((one) => one !== node);
      to = others.filter((one) => moving.clientY > one.getBoundingClientRect().top + one.offsetHeight / 2).length;
      node.style.translate = `0 ${moving.clientY - event.clientY}px`;
    };
    button.addEventListener("pointermove", move);
    button.addEventListener("lostpointercapture", () => {
      button.removeEventListener("pointermove", move);
      node.classList.remove("moving");
      node.style.translate = "";
      if (to === at) return;
      const now = [...list];
      moved(now, at, to);
      put(now);
    }, { once: true });
  });
}
