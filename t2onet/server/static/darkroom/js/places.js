/* Where the next request applies: chips of the places in this photo, more words, or a part that is marked by hand. */

import { ask } from "./api.js";
import { byId, capital, element, iconButton } from "./dom.js";
import { newest } from "./newest.js";
import * as overlay from "./overlay.js";
import { address, on, room, state, tell } from "./room.js";
import { start } from "./tools.js";
import { combined, label } from "./where.js";

const NEXT = { in: "out", out: undefined };
const KINDS = { tones: "Tones", hues: "Colours", positions: "Positions" };
const NONE = { places: [], words: { tones: [], hues: [], positions: [] } };
const found = new Map();
const chosen = new Map();
let added = [];
let marked = null;
let pinned = null;

export function setUp() {
  on("photo", () => { chosen.clear(); added = []; marked = null; show(); if (state()) look(address()); });
  on("edit", () => { byId("where").hidden = false; });
}

const look = newest(async (photo) => {
  if (!found.has(photo)) found.set(photo, await ask("GET", `${photo}/places`));
  if (photo !== address()) return;
  show();
  tell("places");
});

/** What the server knows of the photo on the table: {places, words}. */
export const known = () => (room.current && found.get(address())) || NONE;

/** The words to choose from, by what kind they are: [title, words]. */
export const vocabulary = () => [
  ["In this photo", known().places.map((one) => one.name)],
  ...Object.entries(KINDS).map(([kind, title]) => [title, known().words[kind]]),
];

/** What a request is sent with: {}, {where} or {mask}. */
export function part() {
  if (marked) return marked;
  const where = combined(chosen, vocabulary().map(([, words]) => words));
  return where ? { where } : {};
}

const isChosen = () => Object.keys(part()).length > 0;

/** The same for people; empty for the whole photo. */
export function inWords() {
  if (marked) return marked.mask ? "marked part" : "gradient";
  return part().where ?? "";
}

function choose(word) {
  const next = chosen.has(word) ? NEXT[chosen.get(word)] : "in";
  if (next) chosen.set(word, next);
  else chosen.delete(word);
  marked = null;
  changed();
  byId("where").querySelector(`[data-word="${word}"]`)?.focus({ preventScroll: true });
}

function changed() {
  show();
  if (pinned) pinMask(isChosen());
  else if (isChosen()) overlay.flash(part());
  else overlay.glance(null);
  tell("part");
}

/** Mark the part by hand, beginning with what is chosen. */
export function mark(tool) {
  const from = marked?.mask ? { recipe: { steps: [{ operation: "exposure", parameters: [0], mask: marked.mask }] }, step: 0 } : isChosen() ? part() : null;
  start(tool, { title: "Where the request applies", from, apply: use });
}

function use(made) {
  chosen.clear();
  marked = made;
  changed();
}

export function toggleMask() {
  if (isChosen()) pinMask(!pinned);
}

function pinMask(to) {
  pinned = to ? part() : null;
  overlay.pin(pinned);
  show();
}

function show() {
  const places = known().places.map((one) => one.name);
  const chips = [...places, ...added.filter((word) => !places.includes(word))].map(chip);
  const away = element("button", {
    type: "button", className: "chip", "aria-pressed": "true", id: "marked-part", onclick: () => use(null), title: "Back to the whole photo",
    ...seen(() => marked),
  }, marked?.mask ? "Marked part ×" : "Gradient ×");
  const whole = element("button", {
    type: "button", className: "chip", "aria-pressed": String(!isChosen()), onclick: () => use(null), id: "whole",
  }, "Whole photo");
  const eye = iconButton("eye", "Show the mask (W)", { onclick: toggleMask, disabled: !isChosen(), "aria-pressed": String(Boolean(pinned)), id: "show-mask" });
  const hold = document.activeElement?.id;
  byId("where").replaceChildren(
    element("div", { className: "chips" }, whole, ...(marked ? [away] : []), ...chips, more()),
    element("div", { className: "marks" },
      iconButton("brush", "Paint where it applies (P)", { onclick: () => mark("brush"), id: "mark-brush" }),
      iconButton("similar", "Click on what it applies to", { onclick: () => mark("similar"), id: "mark-similar" }),
      iconButton("gradient", "Gradient: drag where it applies", { onclick: () => mark("gradient"), id: "mark-gradient" }),
      eye),
  );
  if (hold && !document.activeElement?.id && byId("where").querySelector(`#${hold}`)) byId(hold).focus({ preventScroll: true });
}

/** A word: a press restricts the request to it, another leaves it out, a third lets it go. */
function chip(word) {
  const is = chosen.get(word);
  const help = { in: "Only here; press to leave it out", out: "Left out; press for the whole photo" }[is] ?? "Press: only here. Twice: everywhere but here.";
  const made = element("button", {
    type: "button", className: `chip ${is ?? ""}`, "aria-pressed": is ? "true" : "false", title: help, onclick: () => choose(word),
    ...seen(() => ({ where: word })),
  }, is === "out" ? label(`not ${word}`) : capital(word));
  made.dataset.word = word;
  return made;
}

/** Hovering, or coming by keyboard, shows the mask. */
function seen(of) {
  const glance = (event) => {
    if (event.type === "focus" ? event.target.matches(":focus-visible") : event.pointerType === "mouse") overlay.glance(of());
  };
  return { onpointerenter: glance, onpointerleave: () => overlay.glance(null), onfocus: glance, onblur: () => overlay.glance(null) };
}

/** Tones, colours and positions, which become chips. */
function more() {
  const [, ...others] = vocabulary();
  const select = element("select", { className: "chip", id: "more-places", "aria-label": "More places", onchange: () => {
    const word = select.value;
    if (!added.includes(word)) added.push(word);
    chosen.delete(word);
    choose(word);
  } }, element("option", { value: "", selected: true }, "More …"), ...others.map(([title, words]) => options(title, words)));
  return select;
}

export const options = (title, words) => element("optgroup", { label: title }, ...words.map((word) => element("option", { value: word }, capital(word))));
