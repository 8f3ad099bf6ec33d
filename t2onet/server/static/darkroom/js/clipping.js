/* Where pixels are lost: marked in the picture itself, by what is on the screen. */

import { byId } from "./dom.js";

export const shown = { blacks: false, whites: false };

/** Paint the marks that are switched on over a picture. */
export function paint(canvas) {
  if (!shown.blacks && !shown.whites) return;
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const picture = copy.getImageData(0, 0, canvas.width, canvas.height);
  const { data } = picture;
  for (let at = 0; at < data.length; at += 4) {
    const least = Math.min(data[at], data[at + 1], data[at + 2]);
    const most = Math.max(data[at], data[at + 1], data[at + 2]);
    if (shown.whites && most === 255) data.set([255, 60, 60], at);
    else if (shown.blacks && least === 0) data.set([70, 110, 255], at);
  }
  canvas.getContext("2d").putImageData(picture, 0, 0);
}

/** The marks of the histogram switch them; `again()` shows the picture anew. */
export function setUp(again) {
  for (const id of Object.keys(shown)) byId(id).addEventListener("click", () => { set([id], !shown[id]); again(); });
}

export function toggle() {
  set(Object.keys(shown), !(shown.blacks && shown.whites));
}

function set(ids, to) {
  for (const id of ids) {
    shown[id] = to;
    byId(id).setAttribute("aria-pressed", String(to));
  }
}
