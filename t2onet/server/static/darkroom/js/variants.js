/* Other answers to the same request, as a strip of small pictures to choose from. */

import { ask, picture } from "./api.js";
import { byId, element, iconButton } from "./dom.js";
import { notice, waiting } from "./notices.js";
import { part } from "./places.js";
import { use } from "./recipe.js";
import { firstRequest, mode } from "./request.js";
import { address, on, settled } from "./room.js";

const COUNT = 6;
const SIDE = 320;
let urls = [];
let about = "";

export function setUp() {
  byId("hints").addEventListener("click", (event) => { if (event.target.id === "want-variants") offer(); });
  on("photo", close);
  on("edit", () => { if (firstRequest() !== about) close(); });
}

export async function offer() {
  const request = byId("request").value.trim() || firstRequest();
  if (!request) return notice("Ask for something first; variants are other answers to it.", "news");
  await settled();
  const photo = address();
  const found = await waiting(() => ask("POST", `${photo}/variants`, { request, mode: mode(), count: COUNT, ...part() }));
  if (!found || photo !== address()) return undefined;
  if (!found.variants.some((one) => one.steps.length)) return notice(found.answer, "news");
  return show(photo, request, found.variants);
}

function show(photo, request, variants) {
  close();
  const away = iconButton("close", "Close variants", { onclick: close });
  byId("variants").append(
    element("p", {}, "Variants of ", element("q", {}, request), away),
    element("div", { className: "row" }, ...variants.map((one, at) => thumb(photo, one, at))),
  );
  byId("variants").hidden = false;
  about = firstRequest();
}

function thumb(photo, variant, at) {
  const image = element("img", { alt: `Variant ${at + 1}: ${variant.description}` });
  const button = element("button", { type: "button", className: "thumb", title: variant.description }, image);
  button.addEventListener("click", async () => {
    await use(variant.recipe);
    for (const one of byId("variants").querySelectorAll(".thumb")) one.setAttribute("aria-pressed", String(one === button));
  });
  waiting(async () => {
    urls.push(image.src = URL.createObjectURL(await picture(`${photo}/renders`, { recipe: variant.recipe, size: SIDE })));
  });
  return button;
}

export function close() {
  urls.forEach((one) => URL.revokeObjectURL(one));
  urls = [];
  byId("variants").replaceChildren();
  byId("variants").hidden = true;
}
