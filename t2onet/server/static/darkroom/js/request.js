/* What is asked in words, and what is answered. */

import { byId, capital, element, remembered } from "./dom.js";
import { waiting } from "./notices.js";
import { inWords, part } from "./places.js";
import * as recall from "./recall.js";
import { change, on, room, state } from "./room.js";
import { start } from "./tools.js";

const FIRST = ["a bit brighter and warmer", "more contrast, less saturated", "sharper", "fix this photo"];
const THEN = ["a bit more", "a bit less", "less warm", "darker", "undo that"];
const UNTOUCHED = "The photo is as it came. Say in your own words what should change, or try a suggestion.";
const BEGUN = "t2o-begun-";
let last = null;

export function setUp() {
  byId("ask").addEventListener("submit", (event) => { event.preventDefault(); say(byId("request").value); });
  recall.setUp(byId("request"));
  byId("mode").value = remembered.get("mode", remembered.get("manner", "literal"));
  byId("mode").addEventListener("change", () => remembered.set("mode", byId("mode").value));
  on("photo", () => { last = null; });
  on("edit", () => { offer(); answer(); });
  on("part", invite);
}

export const mode = () => byId("mode").value;

/** What was asked first is no longer what the edit is about. */
export const forgetRequest = () => sessionStorage.removeItem(BEGUN + room.current);

/** The request that the edit began with, for other answers to it. */
export const firstRequest = () => sessionStorage.getItem(BEGUN + room.current) ?? state()?.request ?? "";

/** Ask for something, in the part of the photo that is chosen, or `there`. */
export async function say(request, there = part()) {
  const words = request.trim();
  if (!words || !state()) return;
  const fresh = state().recipe.steps.length === 0;
  const told = await waiting(() => change("POST", "requests", { request: words, mode: mode(), ...there }));
  if (!told) return;
  if (told.answered && fresh) sessionStorage.setItem(BEGUN + room.current, words);
  byId("request").value = "";
  recall.keep(words);
  last = { request: words, told };
  answer();
}

/** The request and its answer, above the place where the next one is typed; or what the current edit does. */
function answer() {
  if (last?.told.state.revision !== state().revision) {
    const { recipe, description, settings } = state();
    const stands = element("p", { className: "faint one-line", title: settings }, description);
    return byId("answer").replaceChildren(recipe.steps.length ? stands : element("p", { className: "faint" }, UNTOUCHED));
  }
  const { request, told } = last;
  const summary = told.answer.split("\n").filter((line) => !line.startsWith("- ")).join(" "); // the steps have cards
  return byId("answer").replaceChildren(
    element("p", { className: told.answered ? "" : "declined" }, element("q", {}, request), " ", summary, ...offerToPoint(request, told)),
  );
}

/** What was not found can be marked; then the request is sent again, with that mask. */
function offerToPoint(request, told) {
  if (!told.point_at.length) return [];
  const again = async (marked) => {
    if (told.answered) await change("POST", "undo");
    await say(request, marked);
  };
  const point = () => start("similar", { title: "Click on it, or paint over it", apply: again });
  return [" ", element("button", { type: "button", className: "chip strong", id: "point", onclick: point }, "Point at it")];
}

function offer() {
  const edited = state().recipe.steps.length > 0;
  invite();
  const chip = (words, properties) => element("button", { type: "button", className: "chip", ...properties }, words);
  const hints = (edited ? THEN : FIRST).map((one) => chip(one, { onclick: () => say(one) }));
  const others = { className: "chip strong", id: "want-variants", title: "Other answers to the request (V)" };
  byId("hints").replaceChildren(...(edited ? [chip("Variants", others)] : []), ...hints);
}

function invite() {
  const edited = state()?.recipe.steps.length > 0;
  const words = edited ? "And now? “a bit more”, “less warm” …" : "Say what should change";
  byId("request").placeholder = inWords() ? `${capital(inWords())}: say what should change` : words;
}
