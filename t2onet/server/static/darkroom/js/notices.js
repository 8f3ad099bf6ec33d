/* What has to be said: refusals and news, gone after a while; and the line that shows that work goes on.
   It stands at the top of the photo, or in the dialog that is open, where it covers nothing that can be pressed. */

import { byId, element, iconButton } from "./dom.js";

const LONG = { bad: 12_000, news: 6000 };
const MOST = 2;
let working = 0;

/** `action` is [words, what it does]; what `stays` is there until it is dismissed. Returns the notice. */
export function notice(words, kind = "bad", { action, stays = false } = {}) {
  const close = iconButton("close", "Dismiss", { onclick: () => shown.remove() });
  const shown = element("div", { className: `notice ${kind}`, role: "alert" }, element("p", {}, words), ...offered(), close);
  const head = document.querySelector("dialog[open] > header");
  if (head?.nextElementSibling?.matches(".notice")) head.nextElementSibling.remove();
  if (head) head.after(shown);
  else byId("notices").append(shown);
  while (byId("notices").children.length > MOST) byId("notices").firstChild.remove();
  if (!stays) setTimeout(leave, action ? LONG.bad : LONG[kind]);
  return shown;

  function offered() {
    if (!action) return [];
    const [label, does] = action;
    return [element("button", { type: "button", className: "act", onclick: () => { shown.remove(); does(); } }, label)];
  }

  /** Not from under a finger or the keyboard. */
  function leave() {
    if (shown.matches(":hover, :focus-within")) setTimeout(leave, LONG.news);
    else shown.remove();
  }
}

/** Run something that may be refused; what went wrong is shown. */
export async function trying(work) {
  try {
    return await work();
  } catch (error) {
    if (error.name !== "AbortError") notice(error.message);
    return undefined;
  }
}

/** The same, while the line at the top of the photo runs. */
export async function waiting(work) {
  byId("busy").hidden = ++working === 0;
  try {
    return await trying(work);
  } finally {
    byId("busy").hidden = --working === 0;
  }
}
