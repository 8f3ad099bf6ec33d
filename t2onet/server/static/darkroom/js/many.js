/* Apply the edit, or a request, to many photos: with progress, and a way to stop. */

import { ask, download } from "./api.js";
import { dialog, select } from "./dialog.js";
import { element } from "./dom.js";
import { trying } from "./notices.js";
import { draft } from "./recipe.js";
import { mode } from "./request.js";
import { room, settled, state } from "./room.js";

const EVERY = 350;

export function open() {
  if (!state()) return;
  const edited = draft().steps.length > 0;
  const own = edited ? [["recipe", `The edit of ${state().name}`]] : [];
  const what = select("What", [...own, ["request", "A request, answered for each photo"]], "many-what");
  const request = element("input", { id: "many-request", maxLength: 2000, placeholder: "a bit brighter" });
  const asked = element("label", { className: "field" }, element("span", {}, "Request"), request);
  const format = select("Format", [["", "As they came"], ...Object.entries(room.formats)], "many-format");
  const boxes = room.photos.map((one) => ({ one, box: element("input", { type: "checkbox", checked: true }) }));
  const lines = boxes.map(({ one, box }) => element("li", {}, element("label", {}, box, one.name)));
  const all = element("ul", { className: "photos" }, ...lines);
  const start = element("button", { type: "button", className: "main", id: "many-start", onclick: begin }, "Start");
  const body = element("div", {}, what.node, asked, format.node, element("h3", {}, "Photos"), all, start);
  const turn = () => { asked.hidden = what.value !== "request"; };
  what.made.addEventListener("change", turn);
  turn();
  let watched = null;
  dialog("Apply to many", [body], () => { watched?.stop(); });

  async function begin() {
    await settled();
    const photos = boxes.filter(({ box }) => box.checked).map(({ one }) => one.photo);
    const look = what.value === "recipe" ? { recipe: draft() } : { request: request.value, mode: mode() };
    const wanted = { ...look, photos, ...(format.value && { format: format.value }) };
    const batch = await trying(() => ask("POST", `${room.session}/batches`, wanted));
    if (batch) watched = watch(batch, body);
  }
}

/** Show how far a batch is until it ends; closing the dialog leaves it running. */
function watch(batch, body) {
  const path = `${room.session}/batches/${batch.batch}`;
  const progress = element("progress", { max: 1, "aria-label": "Progress" });
  const words = element("p", { role: "status" });
  const items = element("ul", { className: "photos" });
  const stop = () => trying(async () => show(await ask("POST", `${path}/cancel`)));
  const cancel = element("button", { type: "button", id: "many-cancel", onclick: stop }, "Cancel");
  const keep = element("button", { type: "button", className: "main", id: "many-save", hidden: true }, "Save all as .zip");
  body.replaceChildren(progress, words, items, element("div", { className: "fields" }, cancel, keep));
  let timer = 0;

  function show(now) {
    progress.value = now.share;
    const refused = now.items.filter((one) => one.outcome === "refused").length;
    const more = `${refused ? `, ${refused} refused` : ""}${now.cancelled ? ", cancelled" : ""}`;
    words.textContent = `${now.done} of ${now.total} done${more}`;
    items.replaceChildren(...now.items.map((one) => element("li", { className: one.outcome },
      one.url ? element("a", { href: one.url, download: "" }, one.name) : one.name,
      element("span", { className: "faint" }, ` ${one.error ?? one.outcome}`))));
    cancel.hidden = !now.running;
    keep.hidden = !now.archive || now.done === 0;
    keep.onclick = () => download(now.archive, "");
    if (now.running) timer = setTimeout(() => trying(async () => show(await ask("GET", path))), EVERY);
  }
  show(batch);
  return { stop: () => clearTimeout(timer) };
}
