/* The part of a photo that a step or a request is for, as the server writes it: words, gradients, refinements. */

import { capital } from "./dom.js";

const REFINEMENTS = ["grow", "soften", "invert"];
const JOINTS = ["and", "or", "except"];

/** What a `where` is called: "Sky", "Not sky", "Gradient". */
export const label = (where) => capital(said(where));

function said(where) {
  if (typeof where === "string") return where;
  const { base, invert } = taken(where);
  if (invert) return `not ${said(base)}`;
  if (typeof base === "string") return base;
  const joint = JOINTS.find((one) => base[one]);
  if (joint) return base[joint].map(said).join(` ${joint} `);
  return base.of ? said(base.of) : base.radial ? "circle" : "gradient";
}

/** {base, grow, soften, invert} of a `where`. */
export function taken(where) {
  const none = { grow: 0, soften: 0, invert: false };
  if (typeof where === "string") {
    const [, word, inside] = /^not (?:(\w+)|\(([^()]*)\))$/.exec(where) ?? [];
    return word || inside ? { ...none, base: word ?? inside, invert: true } : { ...none, base: where };
  }
  const rest = Object.fromEntries(Object.entries(where).filter(([key]) => !REFINEMENTS.includes(key)));
  const found = { ...none, ...where, base: rest.of ?? rest };
  if (typeof found.base !== "string" || where.invert) return found;
  const inner = taken(found.base);
  return { ...found, base: inner.base, invert: inner.invert };
}

/** The `where` of {base, grow, soften, invert}. */
export function made({ base, grow = 0, soften = 0, invert = false }) {
  if (!grow && !soften) {
    if (!invert) return base;
    if (typeof base === "string") return `not ${base.includes(" ") ? `(${base})` : base}`;
  }
  const refined = { ...(grow && { grow }), ...(soften && { soften }), ...(invert && { invert }) };
  const plain = typeof base !== "string" && !REFINEMENTS.some((key) => key in base);
  return plain ? { ...base, ...refined } : { of: base, ...refined };
}

/**
 * One `where` of several words, each "in" or "out": words of one kind together, kinds within each other, the rest left out.
 * `kinds` are lists of words; null where nothing is chosen.
 */
export function combined(chosen, kinds) {
  const taken = (way) => [...chosen].filter(([, is]) => is === way).map(([word]) => word);
  const inside = kinds.map((kind) => taken("in").filter((word) => kind.includes(word))).filter((one) => one.length);
  const out = taken("out");
  if (!inside.length) return out.length ? made({ base: out.join(" or "), invert: true }) : null;
  const bracketed = (words) => (words.length > 1 ? `(${words.join(" or ")})` : words[0]);
  if (inside.length === 1 && !out.length) return inside[0].join(" or ");
  const all = inside.map(bracketed).join(" and ");
  return out.length ? [inside.length > 1 ? `(${all})` : all, ...out].join(" except ") : all;
}
