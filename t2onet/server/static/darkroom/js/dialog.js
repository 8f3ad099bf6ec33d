/* Dialogs: one frame for all, closed by Escape, by its cross or by a click beside it. */

import { element, iconButton } from "./dom.js";

/** Show a dialog; `closed()` is called when it is gone. Returns the dialog. */
export function dialog(title, inside, closed = () => undefined) {
  document.querySelector("dialog[open]")?.close();
  const cross = iconButton("close", "Close (Escape)", { onclick: () => made.close() });
  const head = element("header", {}, element("h2", { id: "dialog-title" }, title), cross);
  const made = element("dialog", { "aria-labelledby": "dialog-title" }, head, ...inside);
  made.addEventListener("close", () => { made.remove(); closed(); });
  made.addEventListener("pointerdown", (event) => { if (event.target === made) made.close(); });
  document.body.append(made);
  made.showModal();
  return made;
}

/** A choice among [value, words]. */
export function select(label, choices, id) {
  const made = element("select", { id }, ...choices.map(([value, words]) => element("option", { value }, words)));
  const node = element("label", { className: "field" }, element("span", {}, label), made);
  return { node, made, get value() { return made.value; } };
}
