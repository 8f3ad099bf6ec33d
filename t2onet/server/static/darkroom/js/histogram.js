/* How many pixels have which level, and marks where some are lost at the ends. */

import { ask } from "./api.js";
import { byId } from "./dom.js";
import { newest } from "./newest.js";

const CHANNELS = { red: "rgb(170 30 30)", green: "rgb(20 150 20)", blue: "rgb(20 30 170)" };
/** Where all three lie over each other they add up to grey. */
const NOTED = 0.0005;
/** Share of the pixels from which a mark lights up. */

/** Ask for it by `count({photo, recipe, size})`; what was overtaken is left out. */
export const count = newest(async ({ photo, recipe, size }, overtaken) => {
  const counted = await ask("POST", `${photo}/histogram`, { recipe, size });
  if (!overtaken()) show(counted);
});

export function clear() {
  const canvas = byId("histogram");
  canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
}

function show(counted) {
  clear();
  const canvas = byId("histogram");
  const plot = canvas.getContext("2d");
  const inner = Object.keys(CHANNELS).flatMap((name) => counted[name].slice(1, 255));
  const top = inner.sort((one, other) => one - other)[Math.floor(0.995 * inner.length)] || 1;
  plot.globalCompositeOperation = "lighter";
  for (const [name, colour] of Object.entries(CHANNELS)) {
    plot.fillStyle = colour;
    plot.beginPath();
    plot.moveTo(0, canvas.height);
    smoothed(counted[name]).forEach((one, level) => {
      const height = Math.min(1, (one / top) ** 0.7) * (canvas.height - 6);
      plot.lineTo((level / 255) * canvas.width, canvas.height - height);
    });
    plot.lineTo(canvas.width, canvas.height);
    plot.fill();
  }
  mark("blacks", "black", "Shadows", counted.clipped);
  mark("whites", "white", "Highlights", counted.clipped);
  canvas.setAttribute("aria-label", `Histogram. ${byId("blacks").title}. ${byId("whites").title}.`);
}

/** Without the comb that stretching 256 levels leaves. */
const smoothed = (counts) => counts.map((one, at) =>
  (at === 0 || at === 255 ? one : (counts[at - 1] + 2 * one + counts[at + 1]) / 4));

function mark(id, end, words, clipped) {
  const lost = Object.keys(CHANNELS).filter((name) => clipped[name][end] > NOTED);
  const most = Math.max(...Object.keys(CHANNELS).map((name) => clipped[name][end]));
  const found = lost.length ? `clipped in ${lost.join(", ")}, ${(100 * most).toFixed(1)} % of the pixels` : "not clipped";
  byId(id).title = `${words}: ${found}`;
  byId(id).setAttribute("aria-label", `${words}: ${found}. Show where`);
  byId(id).dataset.lost = lost.length === 3 ? "all" : lost.join(" ");
}
