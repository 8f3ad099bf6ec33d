/* The photo on the stage: made by the server for the recipe at hand, at the size of the screen. */

import { picture, preview } from "./api.js";
import * as clipping from "./clipping.js";
import * as compare from "./compare.js";
import { byId } from "./dom.js";
import * as histogram from "./histogram.js";
import { newest } from "./newest.js";
import { draft } from "./recipe.js";
import { address, on, room, state } from "./room.js";
import { view } from "./view.js";

const GRAIN = 128;
const MOVING = 1280;
const REST = 180;
let lies = null;
let rest = 0;
let drawn = { side: 0, bitmap: null };
let large = null;

export function setUp() {
  lies = view(byId("stage"), [byId("original"), byId("picture"), byId("mask")], placed);
  compare.setUp();
  clipping.setUp(repaint);
  on("photo", change);
  on("edit", () => { reframe(); compare.edit(state().recipe.steps.length > 0); refresh(); });
  on("tried", () => refresh(true));
  byId("zoom").addEventListener("click", () => lies.toggle());
}

export const zoom = {
  fit: () => lies.fit(), actual: () => lies.actual(), toggle: () => lies.toggle(), by: (factor) => lies.zoom(factor),
};

function change() {
  const photo = state();
  document.body.classList.toggle("empty", !photo);
  byId("photo-name").textContent = photo?.name ?? "";
  document.title = photo ? `${photo.name} – Darkroom` : "Darkroom";
  drawn = { side: 0, bitmap: null };
  byId("picture").width = byId("picture").height = 0;
  byId("original").removeAttribute("src");
  histogram.clear();
  byId("photo-facts").textContent = "";
  if (photo) lies.of(frame());
}

/** The size of the photo after its edit, which may crop or turn it. */
const frame = () => ({ width: state().edited_width, height: state().edited_height });

function reframe() {
  const { width, height } = frame();
  const depth = state().bits > 8 ? `, ${state().bits} bit` : "";
  byId("photo-facts").textContent = `${width} × ${height}${depth}`;
  lies.resize({ width, height });
}

/** Long side of the edited photo as a share of that of the whole photo, from which the server makes it. */
const share = () => Math.max(state().edited_width, state().edited_height) / Math.max(state().width, state().height);

/** What decides how the photo is cropped and turned, so that the picture before is loaded again with it. */
const framing = () => state().recipe.steps
  .filter((one) => room.operations.get(one.operation)?.group === "geometry")
  .map((one) => [one.operation, ...one.parameters].join(" ")).join(", ");

/** How many pixels the picture needs; while something moves no more than can be made in a frame or two. */
function needed(moving) {
  const { width, height } = frame();
  const wanted = Math.ceil(lies.side / GRAIN) * GRAIN;
  const most = Math.min(moving ? Math.round(MOVING * share()) : room.limits.largest, Math.max(width, height));
  return Math.max(16, Math.min(wanted, most));
}

function placed(now) {
  byId("zoom").textContent = now.fitted ? "Fit" : `${now.percent} %`;
  compare.within(now);
  clearTimeout(rest);
  rest = setTimeout(() => { if (state() && needed(false) > drawn.side) refresh(); }, REST);
}

function refresh(moving = false) {
  if (!state()) return;
  large?.abort();
  const size = needed(moving);
  make({ photo: address(), recipe: draft(), size, side: Math.round(size / share()) });
  if (moving) return;
  const source = preview(address(), { size: needed(false), original: true, frame: framing() });
  if (byId("original").getAttribute("src") !== source) byId("original").src = source;
}

const make = newest(async (wanted, overtaken) => {
  large = wanted.side > room.limits.preview ? new AbortController() : null;
  const blob = await picture(`${wanted.photo}/renders`, { recipe: wanted.recipe, size: wanted.size }, large?.signal);
  const bitmap = await createImageBitmap(blob);
  if (wanted.photo !== address()) return;
  drawn.bitmap?.close();
  drawn = { side: wanted.size, bitmap };
  repaint();
  if (!overtaken()) histogram.count({ ...wanted, size: Math.min(wanted.side, room.limits.preview) });
});

export function repaint() {
  const canvas = byId("picture");
  const { bitmap } = drawn;
  if (!bitmap) return;
  if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) {
    canvas.width = bitmap.width;
    canvas.height = bitmap.height;
  }
  canvas.getContext("2d").drawImage(bitmap, 0, 0);
  clipping.paint(canvas);
  canvas.setAttribute("aria-label", `${state().name}. ${state().description}`);
  canvas.dataset.shown = Number(canvas.dataset.shown ?? 0) + 1;
}
