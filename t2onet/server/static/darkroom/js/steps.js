/* A recipe as a list to work on: its steps and those that are switched off, each where it belongs. */

import { defaults } from "./controls.js";

/** [{step, on, told}], from what the server says of a photo. */
export function listed(state, operations) {
  const complete = (step) => completed(step, operations.get(step.operation));
  const list = state.recipe.steps.map((step, at) => (
    { step: complete(step), on: true, told: reasoned(state.steps[at], state.request) }));
  const aside = [...state.aside].sort((one, other) => one.position - other.position);
  for (const { position, step } of aside) list.splice(position, 0, { step: complete(step), on: false, told: null });
  return list;
}

export const recipeOf = (list) => ({ steps: list.filter((one) => one.on).map((one) => one.step) });

export const asideOf = (list) =>
  list.flatMap((one, position) => (one.on ? [] : [{ position, step: one.step }]));

export const sameShape = (one, other) =>
  one.length === other.length &&
  one.every((entry, at) => entry.on === other[at].on && entry.step.operation === other[at].step.operation);

/** The last step of an operation that acts on the whole photo. */
export const stepOf = (list, operation) =>
  list.findLast(({ step, on }) => on && step.operation === operation.name && !step.mask && !step.where);

/** Where a new step belongs: before the first one that usually comes after it. */
export function placeOf(list, operation, operations) {
  const later = list.findIndex(({ step }) => operations.get(step.operation)?.position > operation.position);
  return later < 0 ? list.length : later;
}

/** A new step that does nothing yet. */
export const fresh = (operation) =>
  ({ step: { operation: operation.name, parameters: defaults(operation) }, on: true, told: null });

export const isDefault = (entry, operation) =>
  defaults(operation).every((value, at) => value === entry.step.parameters[at]);

export function moved(list, from, to) {
  const [one] = list.splice(from, 1);
  list.splice(to, 0, one);
}

/** The list with a step in another part of the photo. What is marked on the photo lies before it is cropped or turned. */
export function placed(list, at, part, operations) {
  const { where, mask, ...step } = list[at].step;
  const entry = { ...list[at], step: { ...step, ...part } };
  const turns = list.findIndex((one) => operations.get(one.step.operation)?.group === "geometry");
  const now = list.with(at, entry);
  if (turns >= 0 && turns < at && typeof part.where !== "string") moved(now, at, turns);
  return now;
}

/** Words that stand together in the request are shown together. */
function reasoned(told, request) {
  const said = request.toLowerCase().split(/\s+/).join(" ");
  const because = told.because.reduce((parts, word) => {
    const longer = `${parts.at(-1)} ${word}`;
    return said.includes(longer.toLowerCase()) ? [...parts.slice(0, -1), longer] : [...parts, word];
  }, []);
  return { ...told, because };
}

/** A copy with all numbers: files leave out the last ones where they have their defaults. */
function completed(step, operation) {
  const rest = operation ? defaults(operation).slice(step.parameters.length) : [];
  return { ...step, parameters: [...step.parameters, ...rest] };
}
