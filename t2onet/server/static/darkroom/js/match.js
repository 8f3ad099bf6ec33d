/* Match a look: a photo before and after someone's edit, the recipe between them, put on the photo at hand. */

import { ask } from "./api.js";
import { dialog } from "./dialog.js";
import { byId, capital, element } from "./dom.js";
import { accepted, dropped, upload } from "./intake.js";
import { notice, trying, waiting } from "./notices.js";
import { use } from "./recipe.js";
import { forgetRequest } from "./request.js";
import { ensureSession, room, state } from "./room.js";

export function open() {
  const pair = { before: null, after: null };
  const found = element("div", { id: "found", role: "status" });
  const find = element("button", {
    type: "button", className: "main", id: "find-look", disabled: true, onclick: look,
  }, "Find the look");
  const place = (side) => zone(side, (photo) => {
    forget([pair[side]]);
    pair[side] = photo;
    find.disabled = !(pair.before && pair.after);
  });
  const shown = dialog("Match a look", [
    element("p", { className: "faint" }, "Give a photo before and after an edit you like. "
      + "The steps between them are found, and can be used on your photos."),
    element("div", { className: "pair" }, place("before"), place("after")), find, found,
  ], () => { forget(Object.values(pair)); byId("match").focus(); });

  async function look() {
    find.disabled = true;
    found.replaceChildren("Looking for the steps …");
    try {
      found.replaceChildren(...told(await ask("POST", `${room.session}/plans`, pair), shown));
    } catch (error) {
      found.replaceChildren(error.message);
    }
    find.disabled = false;
  }
}

function told(plan, shown) {
  const left = Math.round((100 * plan.cost) / Math.max(plan.start_cost, 1e-9));
  const words = plan.explained
    ? `It leaves ${left} % of the difference.`
    : `Most of the difference remains (${left} %): these photos differ in more than a look.`;
  const apply = async () => {
    shown.close();
    forgetRequest();
    if (await use(plan.recipe, true)) notice("The look is on your photo; adjust its steps, or apply it to many.", "news");
  };
  return [
    element("p", {}, plan.description),
    element("p", { className: "faint" }, words),
    element("button", {
      type: "button", className: "main", id: "use-look", disabled: !state(), onclick: apply,
    }, "Use on this photo"),
  ];
}

/** A place for one photo of the pair. */
function zone(side, came) {
  const input = element("input", { type: "file", accept: accepted(), id: `look-${side}` });
  const name = element("span", { className: "faint" }, element("span", { className: "by-mouse" }, "Drop or choose"),
    element("span", { className: "by-touch" }, "Choose"));
  const image = element("img", { alt: "", hidden: true });
  const title = element("strong", {}, capital(side));
  const made = element("label", { className: "zone", htmlFor: input.id }, title, image, name, input);
  const take = async (file) => {
    if (!file) return;
    name.textContent = file.name;
    image.src = URL.createObjectURL(file);
    image.hidden = false;
    image.onload = image.onerror = () => { image.hidden = !image.naturalWidth; URL.revokeObjectURL(image.src); };
    await ensureSession();
    const brought = await waiting(() => upload(file));
    if (brought) came(brought.photo);
    else name.textContent = "This one was refused; choose another";
  };
  input.addEventListener("change", () => take(input.files[0]));
  made.addEventListener("dragover", (event) => { event.preventDefault(); made.classList.add("over"); });
  made.addEventListener("dragleave", () => made.classList.remove("over"));
  made.addEventListener("drop", async (event) => {
    event.preventDefault();
    made.classList.remove("over");
    take((await dropped(event.dataTransfer))[0]);
  });
  return made;
}

/** Photos of a pair are only needed to find the look. */
function forget(photos) {
  for (const one of photos.filter(Boolean)) trying(() => ask("DELETE", `${room.session}/photos/${one}`));
}
