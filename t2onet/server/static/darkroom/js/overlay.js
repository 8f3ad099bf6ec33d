/* Where something applies, in translucent colour over the photo: a place, a step, or a mask while it is painted. */

import { picture } from "./api.js";
import { byId } from "./dom.js";
import { newest } from "./newest.js";
import { draft } from "./recipe.js";
import { address, on, room, state } from "./room.js";

const RED = [255, 45, 45];
/** For what is red itself. */
const CYAN = [0, 205, 255];
/** What is covered counts as red above the first share of red that green and blue do not match, and no more below the other. */
const REDDISH = 0.45;
const NEUTRAL = 0.35;
const SAMPLE = 48;
const COVER = 0.55;
export const SIDE = 1024;
const LONG = 1600;
let glanced = null;
let pinned = null;
let painted = null;
let timer = 0;
let colour = RED;

export function setUp() {
  on("photo", () => { glanced = pinned = painted = null; refresh(); });
  on("edit", refresh);
}

/** A part is {where}, {mask} or {step: number()}. It is shown until null is; what is glanced at goes first. */
export function glance(part) {
  clearTimeout(timer);
  glanced = part;
  refresh();
}

/** For those who cannot hover: shown for a moment. */
export function flash(part) {
  glance(part);
  timer = setTimeout(() => { if (glanced === part) glance(null); }, LONG);
}

export function pin(part) {
  pinned = part;
  refresh();
}

export const isPinned = (part) => pinned === part;

/** Show a mask in the frame of the photo as it came, while it is painted; null ends that. */
export function paint(canvas) {
  painted = canvas;
  refresh();
}

function refresh() {
  if (painted) return draw(painted, frame(painted));
  const part = glanced ?? pinned;
  if (part && state()) return load({ photo: address(), part });
  byId("marked").hidden = true;
  return undefined;
}

const load = newest(async ({ photo, part }) => {
  const bitmap = await createImageBitmap(await picture(`${photo}/masks`, { ...body(part), size: SIDE }));
  if (photo === address() && part === (glanced ?? pinned) && !painted) draw(bitmap);
});

/** What the server needs to know; a mask is that of a step which does nothing. */
function body({ where, mask, step }) {
  const recipe = draft();
  if (where !== undefined) return { where, recipe };
  if (step) return { step: step(), recipe };
  return { step: 0, recipe: { steps: [{ operation: "exposure", parameters: [0], mask }, ...recipe.steps] } };
}

/** How a mask of the photo as it came lies in the edited photo, which may be cropped and turned. */
function frame({ width, height }) {
  const [a, b, c, d, e, f] = state().frame;
  const size = edited();
  return new DOMMatrix([
    (width * a) / size.width, (height * d) / size.width, (width * b) / size.height, (height * e) / size.height, width * c, height * f,
  ]).inverse();
}

function edited() {
  const { edited_width: width, edited_height: height } = state();
  const scale = Math.min(1, SIDE / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

function draw(mask, matrix = null) {
  const canvas = byId("mask");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  Object.assign(canvas, matrix ? edited() : { width: mask.width, height: mask.height });
  if (matrix) context.setTransform(matrix);
  context.drawImage(mask, 0, 0);
  context.resetTransform();
  colour = contrasting(canvas);
  const shown = context.getImageData(0, 0, canvas.width, canvas.height);
  const { data } = shown;
  for (let at = 0; at < data.length; at += 4) {
    data[at + 3] = COVER * data[at];
    [data[at], data[at + 1], data[at + 2]] = colour;
  }
  context.putImageData(shown, 0, 0);
  byId("marked").hidden = room.current === null;
}

/** A colour that is seen on what a grey mask covers. */
function contrasting(mask) {
  const levels = sampled(mask);
  const photo = sampled(byId("picture"));
  const mean = [0, 0, 0];
  for (let at = 0; at < levels.length; at += 4) {
    for (let band = 0; band < 3; band++) mean[band] += levels[at] * photo[at + band];
  }
  const [red, green, blue] = mean;
  const share = red && (red - (green + blue) / 2) / red;
  if (share > REDDISH) return CYAN;
  return share < NEUTRAL ? RED : colour;
}

function sampled(canvas) {
  const copy = new OffscreenCanvas(SAMPLE, SAMPLE).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0, SAMPLE, SAMPLE);
  return copy.getImageData(0, 0, SAMPLE, SAMPLE).data;
}
