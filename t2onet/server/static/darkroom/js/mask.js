/* A mask that is being made: a grey picture in the frame of the photo as it came, white inside. */

import { SIDE } from "./overlay.js";

const KEPT = 12;
/** Distances are in pixels of a photo with this short side. */
const SHORT = 1000;
const WAYS = 24;
/** Shares of the way at which a gradient is drawn; it is smooth in between. */
const STOPS = [0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1];

export function mask(photo) {
  const scale = Math.min(1, SIDE / Math.max(photo.width, photo.height));
  const width = Math.max(1, Math.round(photo.width * scale));
  const height = Math.max(1, Math.round(photo.height * scale));
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const past = [];
  clear();

  function clear() {
    context.globalCompositeOperation = "source-over";
    context.fillStyle = "#000";
    context.fillRect(0, 0, width, height);
  }

  function stamp(x, y, radius, soft, erase) {
    const [inside, outside] = erase ? ["#000", "#fff"] : ["#fff", "#000"];
    const edge = context.createRadialGradient(x, y, radius * Math.min(1 - soft, 0.95), x, y, radius);
    edge.addColorStop(0, inside);
    edge.addColorStop(1, outside);
    context.globalCompositeOperation = erase ? "darken" : "lighten";
    context.fillStyle = edge;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
  }

  return {
    canvas, scale, clear,
    remember() {
      past.push(context.getImageData(0, 0, width, height));
      if (past.length > KEPT) past.shift();
    },
    /** Back to what was remembered last; false where nothing was. */
    undo() {
      const before = past.pop();
      if (before) context.putImageData(before, 0, 0);
      return Boolean(before);
    },
    /** From one point to another, as shares of the photo. */
    stroke([x0, y0], [x1, y1], { radius, soft, erase }) {
      const [across, down] = [(x1 - x0) * width, (y1 - y0) * height];
      const count = Math.max(1, Math.ceil((4 * Math.hypot(across, down)) / radius));
      for (let at = 1; at <= count; at++) {
        stamp(x0 * width + (across * at) / count, y0 * height + (down * at) / count, radius, soft, erase);
      }
    },
    /** Add a picture of a mask, or take it away. */
    add(bitmap, erase) {
      const other = new OffscreenCanvas(width, height);
      const copy = other.getContext("2d");
      copy.fillStyle = erase ? "#fff" : "#000";
      copy.fillRect(0, 0, width, height);
      copy.globalCompositeOperation = erase ? "difference" : "source-over";
      copy.drawImage(bitmap, 0, 0, width, height);
      context.globalCompositeOperation = erase ? "darken" : "lighten";
      context.drawImage(other, 0, 0);
    },
    /** All up to the first point, nothing beyond the other. */
    gradient([x0, y0], [x1, y1]) {
      const made = context.createLinearGradient(x0 * width, y0 * height, x1 * width, y1 * height);
      for (const at of STOPS) {
        const level = Math.round(255 * (1 - at * at * (3 - 2 * at)));
        made.addColorStop(at, `rgb(${level} ${level} ${level})`);
      }
      context.globalCompositeOperation = "source-over";
      context.fillStyle = made;
      context.fillRect(0, 0, width, height);
    },
    /** Everything else instead. */
    invert() { invert(context); },
    /** By pixels of a photo with a short side of 1000; below 0 it shrinks. */
    grow(by) { grow(context, by); },
    get empty() { return context.getImageData(0, 0, width, height).data.every((level, at) => at % 4 === 3 || level === 0); },
    png: () => encoded(canvas),
  };
}

/** Base64 of a PNG. */
async function encoded(canvas) {
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/png" })).arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/** The mask of a step, black where it was white. */
export const inverted = (mask) => redrawn(mask, invert);

/** The mask of a step, larger, or below 0 smaller, by pixels of a photo with a short side of 1000. */
export const grown = (mask, by) => redrawn(mask, (context) => grow(context, by));

async function redrawn({ png, ...rest }, work) {
  const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const context = canvas.getContext("2d");
  context.drawImage(bitmap, 0, 0);
  work(context);
  return { ...rest, png: await encoded(canvas) };
}

function invert(context) {
  context.globalCompositeOperation = "difference";
  context.fillStyle = "#fff";
  context.fillRect(0, 0, context.canvas.width, context.canvas.height);
}

/** The highest level around each pixel, or the lowest: copies that lie a little aside, in all directions. */
function grow(context, by) {
  const { width, height } = context.canvas;
  const far = Math.max(1, (Math.abs(by) * Math.min(width, height)) / SHORT);
  const copy = new OffscreenCanvas(width, height);
  copy.getContext("2d").drawImage(context.canvas, 0, 0);
  context.globalCompositeOperation = by > 0 ? "lighten" : "darken";
  for (let way = 0; way < WAYS; way++) {
    const turn = (2 * Math.PI * way) / WAYS;
    context.drawImage(copy, far * Math.cos(turn), far * Math.sin(turn));
  }
}
