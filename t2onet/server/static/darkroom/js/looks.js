/* The named looks: one's own, then those of the package by family; one click puts a look on the photo. */

import { ask } from "./api.js";
import { dialog } from "./dialog.js";
import { capital, element, iconButton } from "./dom.js";
import { notice, trying, waiting } from "./notices.js";
import { draft, use } from "./recipe.js";
import { pick } from "./recipes.js";
import { forgetRequest } from "./request.js";
import { settled, state } from "./room.js";

const LOOKS = "/looks";

export async function open() {
  if (!state()) return;
  const looks = await waiting(() => ask("GET", LOOKS));
  if (!looks) return;
  const given = looks.filter((one) => !one.own);
  const families = [...new Set(given.map((one) => one.family))];
  const mine = element("div", { className: "fields", id: "own-looks" });
  const shown = dialog("Looks", [
    element("div", { className: "choice" }, element("h3", {}, "Yours"), mine, saving(), files()),
    ...families.map((family) => element("div", { className: "choice" },
      element("h3", {}, capital(family)),
      element("div", { className: "fields" }, ...given.filter((one) => one.family === family).map((one) => button(one, capital(one.name)))))),
  ]);
  fill(looks);

  function button(look, words) {
    return element("button", { type: "button", title: look.description, onclick: () => put(look, words) }, words);
  }

  async function put(look, words) {
    shown.close();
    forgetRequest();
    if (await use(look.recipe, true)) notice(`${words}: ${look.description}`, "news");
  }

  function fill(all) {
    const own = all.filter((one) => one.own).map((look) => element("span", { className: "own" },
      button(look, look.name), iconButton("close", `Remove ${look.name}`, { onclick: () => away(look) })));
    const none = element("p", { className: "faint" }, "None yet. A look is an edit that you can put on any photo.");
    mine.replaceChildren(...(own.length ? own : [none]));
  }

  const again = async () => fill(await ask("GET", LOOKS));

  function saving() {
    const name = element("input", { id: "look-name", maxLength: 60, required: true, placeholder: "Name" });
    const send = element("button", { disabled: draft().steps.length === 0 }, "Save this edit");
    const label = element("label", { className: "field" }, element("span", {}, "Name of a new look"), name);
    const save = async () => {
      await settled();
      const made = await ask("POST", LOOKS, { name: name.value, recipe: draft() });
      name.value = "";
      await again();
      notice([`${made.name} is saved.`, ...made.notes.map((one) => `${capital(one)}.`)].join(" "), "news");
    };
    return element("form", { className: "fields then", onsubmit: (event) => { event.preventDefault(); trying(save); } }, label, send);
  }

  function files() {
    const choose = () => { shown.close(); pick(); };
    return element("p", { className: "then" }, element("button", { type: "button", id: "open-recipe", onclick: choose, title: "A .t2o.json file or a look (R)" }, "Open a recipe file"));
  }

  async function away(look) {
    const back = () => trying(async () => { await ask("POST", LOOKS, { name: look.name, recipe: look.recipe }); await again(); });
    await trying(async () => {
      await ask("DELETE", `${LOOKS}/${encodeURIComponent(look.name)}`);
      await again();
      notice(`${look.name} is removed.`, "news", { action: ["Undo", back] });
    });
    shown.querySelector("#look-name")?.focus({ preventScroll: true });
  }
}
