/* Elements. Texts become text, never markup. */

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

export function element(name, properties = {}, ...inside) {
  const made = document.createElement(name);
  set(made, properties);
  made.append(...inside);
  return made;
}

/** An element of a drawing. */
export function drawn(name, attributes = {}, ...inside) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

export const icon = (name) => drawn("svg", { "aria-hidden": "true" }, drawn("use", { href: `/icons.svg#${name}` }));

/** A small button with an icon; its words are its name and its hint. */
export const iconButton = (name, words, properties = {}) => element("button", {
  type: "button", className: "quiet small", title: words, "aria-label": words, ...properties,
}, icon(name));

function set(made, properties) {
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
}

export const capital = (words) => words.charAt(0).toUpperCase() + words.slice(1);

/** Whether someone is typing, so that letters are no shortcuts. */
export function typing(target) {
  if (target.matches("textarea, select, [contenteditable]")) return true;
  return target.matches("input") && !["range", "checkbox", "radio", "button"].includes(target.type);
}

/** A setting that this browser remembers, where it may. */
export const remembered = {
  get(name, otherwise) {
    try { return localStorage.getItem(`t2o-${name}`) ?? otherwise; } catch { return otherwise; }
  },
  set(name, value) {
    try { localStorage.setItem(`t2o-${name}`, value); } catch { /* a private window remembers nothing */ }
  },
};
