/* All photos of the session in a row below the stage. */

import { preview } from "./api.js";
import { byId, element, iconButton } from "./dom.js";
import { idle } from "./newest.js";
import { waiting } from "./notices.js";
import { remove } from "./removal.js";
import { address, choose, on, room } from "./room.js";

const SIDE = 160;
const EDGE = 12;
let turns = 0;

export function setUp() {
  on("photos", build);
  on("photo", mark);
  byId("strip").addEventListener("scroll", load);
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

/** What is there already stays. */
function build() {
  const made = new Map([...byId("strip").children].map((one) => [one.dataset.photo, one]));
  byId("strip").hidden = room.photos.length < 2;
  byId("strip").replaceChildren(...room.photos.map((one) => made.get(one.photo) ?? thumb(one)));
  mark();
  load();
}

function thumb(one) {
  const image = element("img", { alt: one.name, draggable: false, "data-src": source(one) });
  const look = () => waiting(() => choose(one.photo));
  const show = element("button", { className: "thumb", title: one.name, onclick: look }, image);
  const away = iconButton("close", `Remove ${one.name}`, {
    className: "quiet small away", onclick: () => remove(one.photo),
  });
  return element("div", { "data-photo": one.photo }, show, away);
}

const near = (image) => image.getBoundingClientRect().left < 1.5 * innerWidth;

/** One after another, so that the photo on the table does not wait for them; of many photos those that are near. */
async function load() {
  const turn = ++turns;
  for (const image of byId("strip").querySelectorAll("img:not([src])")) {
    await idle();
    if (turn !== turns || !near(image)) return;
    image.src = image.dataset.src;
    await image.decode().catch(() => undefined);
  }
}

function mark() {
  for (const one of byId("strip").children) {
    const here = one.dataset.photo === room.current;
    one.firstChild.setAttribute("aria-current", String(here));
    if (here) reveal(one);
  }
}

/** Scroll the strip, and nothing else, until a photo can be seen. */
function reveal(one) {
  const [box, frame] = [one.getBoundingClientRect(), byId("strip").getBoundingClientRect()];
  byId("strip").scrollLeft += Math.min(0, box.left - frame.left - EDGE) + Math.max(0, box.right - frame.right + EDGE);
}
