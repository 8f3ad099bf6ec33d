/* Where a step applies: a menu of the whole photo, places, tones, colours, positions, and what is marked by hand. */

import { capital, element, iconButton } from "./dom.js";
import { grown, inverted } from "./mask.js";
import * as overlay from "./overlay.js";
import { options, part as chosenPart, vocabulary } from "./places.js";
import { on } from "./room.js";
import { slider } from "./slider.js";
import { start } from "./tools.js";
import { label, made, taken } from "./where.js";

const MARKS = [["brush", "Paint …"], ["similar", "Click on similar colours …"], ["gradient", "Drag a gradient …"]];
const SOFTEN = { low: 0, high: 200, default: 0, step: 1, suffix: "", help: "Blurs the edge, in pixels of a photo with a short side of 1000" };
const GROW = { low: -100, high: 100, default: 0, step: 1, suffix: "", help: "Grows or shrinks it, in the same pixels" };
/** By how much a press grows a mask that was marked by hand. */
const PRESS = 10;
const menus = new Set();

on("places", () => { for (const one of menus) one(); });

/** `heard` has place(part), which puts the step there, and number(), its number among the steps that are on. */
export function menu(name, heard) {
  let entry = null;
  let changed = {};
  const shown = { step: heard.number };
  const select = element("select", { "aria-label": `Where ${name} applies`, onchange: () => take(select.value) });
  const eye = iconButton("eye", `Show where ${name} applies`, { onclick: () => { overlay.pin(overlay.isPinned(shown) ? null : shown); press(); } });
  const invert = iconButton("invert", `${capital(name)} everywhere else instead`, { onclick: turn });
  const refine = iconButton("refine", `Soften or grow the mask of ${name}`, { onclick: () => { sliders.hidden = !sliders.hidden; press(); } });
  const soften = slider(SOFTEN, `Soften the mask of ${name}`, 0, (soft) => { changed.soften = soft; }, settle);
  const grow = slider(GROW, `Grow the mask of ${name}`, 0, (size) => { changed.grow = size; }, settle);
  const growing = row("Grow", grow.node);
  const resize = (words, by) => element("button", {
    type: "button", className: "small", title: `${words} the mask of ${name}`, "aria-label": `${words} the mask of ${name}`,
    onclick: async () => heard.place({ mask: await grown(entry.step.mask, by) }),
  }, words);
  const pressing = row("Edge", element("div", { className: "line" }, resize("Grow", PRESS), resize("Shrink", -PRESS)));
  const sliders = element("div", { className: "refine", hidden: true }, row("Soften", soften.node), growing, pressing);
  const node = element("div", { className: "where" }, element("div", { className: "line" }, select, eye, invert, refine), sliders);

  const refined = () => (entry.step.mask
    ? { soften: entry.step.mask.feather ?? 0, grow: 0 } : taken(entry.step.where ?? "top"));

  function settle() {
    const { step } = entry;
    const { soften: feather, ...rest } = changed;
    const now = { ...refined(), ...changed };
    changed = {};
    if (step.mask) return heard.place({ mask: { ...step.mask, ...(feather !== undefined && { feather }) } });
    return heard.place({ where: made({ ...now, ...rest }) });
  }

  async function turn() {
    const { step } = entry;
    if (step.mask) return heard.place({ mask: await inverted(step.mask) });
    const now = taken(step.where);
    return heard.place({ where: made({ ...now, invert: !now.invert }) });
  }

  function take(value) {
    const marks = MARKS.some(([tool]) => `@${tool}` === value);
    if (!marks) return value === "@same" ? undefined : heard.place(value === "@chosen" ? chosenPart() : value ? { where: value } : {});
    fill();
    const { parameters, operation, ...there } = entry.step;
    const from = there.where || there.mask ? { recipe: { steps: [entry.step] }, step: 0 } : null;
    return start(value.slice(1), { title: `Where ${name} applies`, from, apply: heard.place });
  }

  /** The choices; what no single word says has one of its own. */
  function fill() {
    const { where, mask } = entry.step;
    const words = vocabulary();
    const single = typeof where === "string" && words.some(([, inside]) => inside.includes(where));
    const same = mask ? "Marked part" : where && !single ? label(where) : "";
    const chosen = Object.keys(chosenPart()).length ? [element("option", { value: "@chosen" }, "As chosen for the request")] : [];
    select.replaceChildren(
      ...(same ? [element("option", { value: "@same" }, same)] : []),
      element("option", { value: "" }, "Whole photo"),
      ...chosen,
      ...words.filter(([, inside]) => inside.length).map(([title, inside]) => options(title, inside)),
      element("optgroup", { label: "Mark it yourself" }, ...MARKS.map(([tool, title]) => element("option", { value: `@${tool}` }, title))),
    );
    select.value = same ? "@same" : where ?? "";
  }

  function press() {
    eye.setAttribute("aria-pressed", String(overlay.isPinned(shown)));
    refine.setAttribute("aria-expanded", String(!sliders.hidden));
  }

  function show(now) {
    entry = now;
    const local = Boolean(now.step.where || now.step.mask);
    if (!local) sliders.hidden = true;
    if (!local && overlay.isPinned(shown)) overlay.pin(null);
    for (const one of [eye, invert, refine]) one.hidden = !local;
    eye.disabled = !now.on;
    growing.hidden = Boolean(now.step.mask);
    pressing.hidden = !now.step.mask;
    const sizes = refined();
    soften.show(sizes.soften);
    grow.show(sizes.grow);
    fill();
    press();
  }

  select.addEventListener("focus", fill);
  menus.add(refill);
  function refill() { if (!node.isConnected) menus.delete(refill); else fill(); }
  return { node, show };
}

const row = (title, inside) => element("div", { className: "labelled" }, element("span", { className: "label" }, title), inside);
