/* A recipe as a list to work on: its steps and those that are switched off, each where it belongs. */

/** [{step, on, told}], from what the server says of a photo. */
export function listed(state) {
  const list = state.recipe.steps.map((step, at) => (
    { step: copied(step), on: true, told: reasoned(state.steps[at], state.request) }));
  const aside = [...state.aside].sort((one, other) => one.position - other.position);
  for (const { position, step } of aside) list.splice(position, 0, { step: copied(step), on: false, told: null });
  return list;
}

export const recipeOf = (list) => ({ steps: list.filter((one) => one.on).map((one) => one.step) });

export const asideOf = (list) =>
  list.flatMap((one, position) => (one.on ? [] : [{ position, step: one.step }]));

export const sameShape = (one, other) =>
  one.length === other.length &&
  one.every((entry, at) => entry.on === other[at].on && entry.step.operation === other[at].step.operation);

/** A new step that does nothing yet. */
export function fresh(operation) {
  const parameters = operation.parameters.flatMap((one) => Array(one.count).fill(one.default));
  return { step: { operation: operation.name, parameters }, on: true, told: null };
}

export function moved(list, from, to) {
  const [one] = list.splice(from, 1);
  list.splice(to, 0, one);
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

const copied = (step) => ({ ...step, parameters: [...step.parameters] });
