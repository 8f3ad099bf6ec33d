/* All photos of the session in a row below the stage. */

import { preview } from "./api.js";
import { byId, element, icon } from "./dom.js";
import { newest } from "./newest.js";
import { waiting } from "./notices.js";
import { address, choose, on, remove, room } from "./room.js";
import { shown } from "./stage.js";

const SIDE = 160;

export function setUp() {
  on("photos", build);
  on("photo", mark);
  on("edit", () => {
    const image = byId("strip").querySelector(`[data-photo="${room.current}"] img`);
    if (image) image.src = source(room.photos.find((one) => one.photo === room.current));
  });
}

/** Go to the photo before or after. */
export function go(by) {
  const at = room.photos.findIndex((one) => one.photo === room.current) + by;
  if (room.photos[at]) waiting(() => choose(room.photos[at].photo));
}

const source = ({ photo, revision }) => preview(address(photo), { size: SIDE, revision });

function build() {
  byId("strip").hidden = room.photos.length < 2;
  byId("strip").replaceChildren(...room.photos.map((one) => {
    const image = element("img", { alt: one.name, draggable: false, "data-src": source(one) });
    const show = element("button", { className: "thumb", title: one.name, onclick: () => waiting(() => choose(one.photo)) }, image);
    const away = element("button", { className: "quiet small away", title: "Remove", onclick: () => waiting(() => remove(one.photo)) }, icon("close"));
    away.setAttribute("aria-label", `Remove ${one.name}`);
    return element("div", { "data-photo": one.photo }, show, away);
  }));
  mark();
  load();
}

/** One after another, so that the photo on the table does not wait for them. */
const load = newest(async (_, overtaken) => {
  await shown();
  for (const image of byId("strip").querySelectorAll("img:not([src])")) {
    image.src = image.dataset.src;
    await image.decode().catch(() => undefined);
    if (overtaken()) return;
  }
});

function mark() {
  for (const one of byId("strip").children) {
    const here = one.dataset.photo === room.current;
    one.firstChild.setAttribute("aria-current", String(here));
    if (here) one.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}
