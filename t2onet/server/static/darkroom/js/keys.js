/* Keyboard shortcuts: one table, which is also the help. */

import * as clipping from "./clipping.js";
import * as compare from "./compare.js";
import { dialog } from "./dialog.js";
import { byId, element, remembered, typing } from "./dom.js";
import * as history from "./history.js";
import * as looks from "./looks.js";
import * as many from "./many.js";
import * as match from "./match.js";
import { pick } from "./recipes.js";
import * as removal from "./removal.js";
import * as save from "./save.js";
import * as places from "./places.js";
import { repaint, zoom } from "./stage.js";
import { nudge } from "./strength.js";
import { go } from "./strip.js";
import { offer } from "./variants.js";
import { change, state } from "./room.js";

const SURROUNDS = ["dark", "middle", "light", "black"];

const undo = () => state()?.can_undo && change("POST", "undo");
const undoLast = () => (removal.isLast() ? removal.bringBack() : undo());
const redo = () => state()?.can_redo && change("POST", "redo");

/** [keys, what they do, how, whether a photo is needed]. */
const TABLE = [
  [["/"], "Say what should change", () => byId("request").focus(), true],
  [["Ctrl+z"], "Undo", undoLast, false],
  [["Ctrl+Shift+z", "Ctrl+y"], "Redo", redo, true],
  [["h"], "What was done, to go back to", history.toggle, true],
  [["b"], "Show the photo as it was, while held", () => compare.original(true), true],
  [["c"], "Before and after with a line between", compare.toggle, true],
  [["v"], "Variants", offer, true],
  [["w"], "Show where the request applies", places.toggleMask, true],
  [["p"], "Paint where the request applies; Space paints by keyboard", () => places.mark("brush"), true],
  [["["], "Weaker", () => nudge(-0.1), true],
  [["]"], "Stronger", () => nudge(0.1), true],
  [["z"], "Fit or full size", () => zoom.toggle(), true],
  [["0"], "Fit", () => zoom.fit(), true],
  [["1"], "Full size", () => zoom.actual(), true],
  [["+", "="], "Nearer", () => zoom.by(1.25), true],
  [["-"], "Farther", () => zoom.by(0.8), true],
  [["j"], "Mark clipped pixels in the photo", () => { clipping.toggle(); repaint(); }, true],
  [["g"], "Another grey around the photo", surround, false],
  [["ArrowLeft"], "Photo before", () => go(-1), true],
  [["ArrowRight"], "Photo after", () => go(1), true],
  [["o"], "Add photos", () => byId("photos-input").click(), false],
  [["Delete"], "Remove the photo from the page", removeFocused, true],
  [["u"], "Bring back the photo removed last", () => removal.bringBack(), false],
  [["l"], "Looks", looks.open, true],
  [["r"], "Open a recipe file", pick, true],
  [["m"], "Match a look", match.open, false],
  [["a"], "Apply to many", many.open, true],
  [["s", "Ctrl+s"], "Save", save.open, true],
  [["?"], "This help", help, false],
];

export function setUp() {
  for (const [id, does] of Object.entries({ undo, redo, looks: looks.open, match: match.open, many: many.open, save: save.open, help })) {
    byId(id).addEventListener("click", does);
  }
  document.body.dataset.surround = remembered.get("surround", SURROUNDS[0]);
  addEventListener("keydown", pressed);
  addEventListener("keyup", (event) => { if (event.key.toLowerCase() === "b") compare.original(false); });
  addEventListener("blur", () => compare.original(false));
}

function pressed(event) {
  const control = event.ctrlKey || event.metaKey;
  if (event.altKey || document.querySelector("dialog[open]")) return;
  if (typing(event.target) && !(control && isFree(event))) return leave(event);
  const moves = event.key.startsWith("Arrow") || event.key === "Delete";
  const inside = moves && event.target.matches("input, [role=slider], .grip, #surface");
  const held = control ? `Ctrl+${event.shiftKey ? "Shift+" : ""}` : "";
  const name = held + (event.key.length === 1 ? event.key.toLowerCase() : event.key);
  const [, , does, needed] = TABLE.find(([keys]) => keys.includes(name)) ?? [];
  if (!does || inside || (needed && !state())) return;
  event.preventDefault();
  if (!event.repeat || name !== "b") does();
}

/** Whether a key with Ctrl is no part of typing: S, and with an empty request also undo and redo. */
function isFree({ key, target }) {
  return key.toLowerCase() === "s" || (["z", "y"].includes(key.toLowerCase()) && target.id === "request" && !target.value);
}

/** The photo in the strip that the keyboard is on, or else the one on the table. */
function removeFocused() {
  removal.remove(document.activeElement.closest("[data-photo]")?.dataset.photo);
}

/** Escape leaves the place where one types. */
function leave(event) {
  if (event.key === "Escape") event.target.blur();
}

function surround() {
  const now = document.body.dataset.surround;
  const next = SURROUNDS[(SURROUNDS.indexOf(now) + 1) % SURROUNDS.length];
  document.body.dataset.surround = next;
  remembered.set("surround", next);
}

function help() {
  const rows = TABLE.map(([keys, words]) => element("tr", {},
    element("td", {}, ...keys.flatMap((one, at) => [...(at ? [" "] : []), element("kbd", {}, shown(one))])),
    element("td", {}, words)));
  dialog("Keyboard", [
    element("table", { className: "keys" }, element("tbody", {}, ...rows)),
    element("p", { className: "faint" }, "In the empty request, ↑ brings earlier ones back. Wheel or pinch zooms, drag moves, double click fits. "
      + "Double click on a slider or curve sets it back; with Shift a knot of a curve moves alone."),
  ]);
}

const shown = (key) => key.replace("Arrow", "").replace("Left", "←").replace("Right", "→")
  .replace(/[a-z]$/, (letter) => (key.length === 1 || key.includes("+") ? letter.toUpperCase() : letter));
