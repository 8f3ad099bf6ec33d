/* Marking a part of the photo by hand: a brush, a click on what is alike, a gradient. The mask is shown over the photo. */

import { picture } from "./api.js";
import { byId, typing } from "./dom.js";
import { mask as newMask } from "./mask.js";
import { newest } from "./newest.js";
import { notice, waiting } from "./notices.js";
import * as overlay from "./overlay.js";
import { address, on, state } from "./room.js";
import * as toolbar from "./toolbar.js";

/** The largest brush, as a share of the short side of what is on the screen. */
const LARGEST = 0.3;
let now = null;
let at = [0.5, 0.5];

export const isMarking = () => now !== null;

export function setUp() {
  const surface = byId("surface");
  on("photo", stop);
  surface.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !event.isPrimary) return;
    surface.setPointerCapture(event.pointerId);
    at = under(event);
    begin();
  });
  surface.addEventListener("pointermove", (event) => {
    if (!event.isPrimary) return;
    at = under(event);
    moved();
  });
  for (const ends of ["pointerup", "pointercancel"]) surface.addEventListener(ends, end);
  addEventListener("keydown", pressed, { capture: true });
  addEventListener("keyup", (event) => { if (event.key === " " && now?.tool === "brush") end(); });
}

/** Begin to mark something for a target: {title, from, apply(part)}; `from` is what the mask is at first. */
export async function start(tool, target) {
  if (!state()) return;
  const made = newMask(state());
  const photo = address();
  if (target.from) {
    const first = await waiting(async () => createImageBitmap(await picture(`${photo}/masks`, { ...target.from, size: overlay.SIDE })));
    if (first) made.add(first, false);
    if (photo !== address()) return;
  }
  now = { tool, target, mask: made, erase: false, down: false, last: null, linear: null, picked: null, focus: document.activeElement };
  byId("stage").classList.add("painting");
  byId("surface").hidden = byId("tools").hidden = false;
  show();
  byId("surface").focus({ preventScroll: true });
}

function stop() {
  if (!now) return;
  const { focus } = now;
  now = null;
  overlay.paint(null);
  byId("stage").classList.remove("painting");
  byId("surface").hidden = byId("tools").hidden = true;
  if (focus?.isConnected) focus.focus({ preventScroll: true });
}

async function done() {
  const { mask, linear, target } = now;
  if (!linear && mask.empty) return notice("Nothing is marked yet: paint, click or drag on the photo.", "news");
  const part = linear ? { where: { linear } } : { mask: { png: await mask.png() } };
  stop();
  return target.apply(part);
}

function show() {
  toolbar.show(now, {
    choose: (tool) => { now.tool = tool; show(); },
    erase: () => { now.erase = !now.erase; show(); },
    set: (name) => { if (name === "tolerance") pickAgain(); else moved(); },
    stop, done, refine, back,
  });
  byId("surface").setAttribute("aria-label", `${now.target.title}. ${toolbar.explain(now.tool)}`);
  byId("surface").dataset.tool = now.tool;
  overlay.paint(now.mask.canvas);
  moved();
}

/** Where a pointer is on the photo as it is shown, in shares. */
function under(event) {
  const box = byId("picture").getBoundingClientRect();
  return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
}

/** The same in the photo as it came. */
function lies([u, v] = at) {
  const [a, b, c, d, e, f] = state().frame;
  return [a * u + b * v + c, d * u + e * v + f];
}

/** Radius of the brush on the screen. */
function reach() {
  const box = byId("picture").getBoundingClientRect();
  const seen = Math.min(box.width, box.height, byId("stage").clientWidth, byId("stage").clientHeight);
  return Math.max(1.5, (LARGEST * seen * toolbar.values.size) / 200);
}

function begin() {
  now.down = true;
  now.last = lies();
  if (now.tool !== "similar") now.mask.remember();
  if (now.tool === "similar") return pick();
  if (now.tool === "brush") return go();
  return undefined;
}

function go() {
  if (now.tool === "similar") return;
  const to = lies();
  if (now.tool === "gradient") {
    if (Math.hypot(to[0] - now.last[0], to[1] - now.last[1]) < 0.01) return;
    const held = (point) => point.map((share) => Math.round(1e4 * Math.min(2, Math.max(-1, share))) / 1e4);
    now.linear = { from: held(now.last), to: held(to) };
    now.mask.gradient(now.last, to);
  } else {
    const radius = (reach() / byId("picture").getBoundingClientRect().width) * state().edited_width * now.mask.scale;
    now.mask.stroke(now.last, to, { radius, soft: toolbar.values.soft / 100, erase: now.erase });
    now.last = to;
    now.linear = now.picked = null;
  }
  overlay.paint(now.mask.canvas);
}

function end() { if (now) now.down = false; }

/** The ring of the brush, or the cross, follows. */
function moved() {
  if (!now) return;
  if (now.down) go();
  const box = byId("picture").getBoundingClientRect();
  const stage = byId("stage").getBoundingClientRect();
  const size = now.tool === "brush" ? 2 * reach() : 18;
  Object.assign(byId("cursor").style, {
    left: `${box.left - stage.left + at[0] * box.width}px`, top: `${box.top - stage.top + at[1] * box.height}px`, width: `${size}px`, height: `${size}px`,
  });
}

function pick() {
  now.down = false;
  if (at.some((share) => share < 0 || share > 1)) return undefined;
  now.picked = { point: now.last.map((share) => Math.min(1, Math.max(0, share))), erase: now.erase };
  now.linear = null;
  now.mask.remember();
  return take({ picked: now.picked, first: true });
}

function pickAgain() { if (now.picked) take({ picked: now.picked, first: false }); }

const take = newest(async ({ picked, first }) => {
  const session = now;
  const found = { point: picked.point, tolerance: toolbar.values.tolerance, size: overlay.SIDE };
  const bitmap = await createImageBitmap(await picture(`${address()}/selections`, found));
  if (session !== now || now?.picked !== picked) return;
  if (!first && now.mask.undo()) now.mask.remember();
  now.mask.add(bitmap, picked.erase);
  overlay.paint(now.mask.canvas);
});

/** Change the whole mask; a gradient becomes a mask like any other. */
function refine(work) {
  now.mask.remember();
  work(now.mask);
  now.linear = now.picked = null;
  overlay.paint(now.mask.canvas);
}

function back() {
  now.mask.undo();
  now.linear = now.picked = null;
  overlay.paint(now.mask.canvas);
}

function pressed(event) {
  if (!now || (typing(event.target) && event.key !== "Escape")) return;
  const here = event.target === byId("surface");
  const step = event.shiftKey ? 0.1 : 0.02;
  const way = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
  const size = { "[": -2, "]": 2 }[event.key];
  if (event.key === "Escape") stop();
  else if (event.key === "Enter" && !event.target.matches("button")) done();
  else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") back();
  else if (event.key.toLowerCase() === "e" && !event.ctrlKey) { now.erase = !now.erase; show(); }
  else if (event.key.toLowerCase() === "i" && !event.ctrlKey && now.tool !== "gradient") refine(toolbar.REFINE[0][2]);
  else if (size) { toolbar.values.size = Math.min(100, Math.max(1, toolbar.values.size + size)); show(); }
  else if (here && way) { at = at.map((share, axis) => Math.min(1, Math.max(0, share + way[axis]))); moved(); }
  else if (here && event.key === " ") { if (!event.repeat) { if (now.tool === "gradient" && now.down) end(); else begin(); } }
  else return;
  event.preventDefault();
  event.stopPropagation();
}
