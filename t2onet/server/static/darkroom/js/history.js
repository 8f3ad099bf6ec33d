/* What was done to the photo, the newest first: each line leads back, or forward, to how it stood then. */

import { ask } from "./api.js";
import { byId, element } from "./dom.js";
import { newest } from "./newest.js";
import { address, change, on, state } from "./room.js";

export function setUp() {
  on("edit", refresh);
  byId("history").addEventListener("toggle", refresh);
}

/** Open it, or close it again. */
export function toggle() {
  if (byId("history").hidden) return;
  byId("history").open = !byId("history").open;
  byId("history").firstElementChild.focus();
}

function refresh() {
  byId("history").hidden = !(state().can_undo || state().can_redo);
  if (byId("history").open) look(address());
}

const look = newest(async (photo) => {
  const { revision, place, edits } = await ask("GET", `${photo}/history`);
  if (photo !== address() || revision !== state().revision) return;
  const list = byId("done");
  const held = list.contains(document.activeElement);
  list.replaceChildren(...["As it came", ...edits].map((words, at) => line(words, at, place)).reverse());
  if (held) list.querySelector("[aria-current]").focus();
});

function line(words, at, place) {
  const button = element("button", {
    type: "button", className: `quiet small${at > place ? " undone" : ""}`, title: words,
    onclick: () => at !== place && change("POST", "history", { place: at }),
  }, words);
  if (at === place) button.setAttribute("aria-current", "true");
  return element("li", {}, button);
}
