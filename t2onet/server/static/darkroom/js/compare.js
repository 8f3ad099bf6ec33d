/* The line between before and after, which can be dragged, and the key that shows the photo as it was. */

import { byId, remembered } from "./dom.js";

let share = 0.5;
let wanted = remembered.get("compare", "on") === "on";
let edited = false;
let bounds = { left: 0, right: 1, top: 0, bottom: 1 };

export function setUp() {
  const divider = byId("divider");
  const stage = byId("stage");
  const to = (clientX) => {
    const box = stage.getBoundingClientRect();
    const at = Math.min(bounds.right, Math.max(bounds.left, clientX - box.left));
    share = (at - bounds.left) / Math.max(1, bounds.right - bounds.left);
    place();
  };
  divider.addEventListener("pointerdown", (event) => {
    divider.setPointerCapture(event.pointerId);
    divider.addEventListener("pointermove", move);
    event.stopPropagation();
  });
  const move = (event) => to(event.clientX);
  divider.addEventListener("lostpointercapture", () => divider.removeEventListener("pointermove", move));
  divider.addEventListener("dblclick", (event) => { share = 0.5; place(); event.stopPropagation(); });
  divider.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -0.02, ArrowRight: 0.02, Home: -1, End: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    share = Math.min(1, Math.max(0, share + by));
    place();
  });
  byId("compare").addEventListener("click", toggle);
}

export function toggle() {
  wanted = !wanted;
  remembered.set("compare", wanted ? "on" : "off");
  place();
}

/** The line stands between the edges of the photo, once there is an edit to compare with. */
export function within(now) {
  bounds = now;
  place();
}

export function edit(exists) {
  edited = exists;
  place();
}

/** While a key is held, all of it is as it was. */
export function original(shown) {
  byId("after").classList.toggle("gone", shown);
}

function place() {
  const split = wanted && edited;
  const at = bounds.left + share * (bounds.right - bounds.left);
  byId("divider").hidden = byId("sides").hidden = !split;
  byId("after").style.clipPath = split ? `inset(0 0 0 ${at}px)` : "";
  for (const [name, value] of [["split", at], ["top", bounds.top], ["bottom", byId("stage").clientHeight - bounds.bottom]]) {
    byId("stage").style.setProperty(`--${name}`, `${value}px`);
  }
  byId("divider").setAttribute("aria-valuenow", Math.round(100 * share));
  byId("divider").setAttribute("aria-valuetext", `${Math.round(100 * share)} % before`);
  byId("compare").setAttribute("aria-pressed", String(wanted));
}
