/* Dialogs: one frame for all, closed by Escape, by its cross or by a click beside it. */

import { element, icon } from "./dom.js";

/** Show a dialog; `closed()` is called when it is gone. Returns the dialog. */
export function dialog(title, inside, closed = () => undefined) {
  document.querySelector("dialog[open]")?.close();
  const cross = element("button", { type: "button", className: "quiet small", title: "Close (Escape)", onclick: () => made.close() }, icon("close"));
  cross.setAttribute("aria-label", "Close");
  const head = element("header", {}, element("h2", { id: "dialog-title" }, title), cross);
  const made = element("dialog", {}, head, ...inside);
  made.setAttribute("aria-labelledby", "dialog-title");
  made.addEventListener("close", () => { made.remove(); closed(); });
  made.addEventListener("pointerdown", (event) => { if (event.target === made) made.close(); });
  document.body.append(made);
  made.showModal();
  return made;
}

/** A choice among [value, words]. */
export function select(label, choices, id) {
  const made = element("select", { id }, ...choices.map(([value, words]) => element("option", { value }, words)));
  return { node: element("label", { className: "field" }, element("span", {}, label), made), get value() { return made.value; }, made };
}
