/* The named looks, by family; one click puts a look on the photo. */

import { ask } from "./api.js";
import { dialog } from "./dialog.js";
import { capital, element } from "./dom.js";
import { notice, waiting } from "./notices.js";
import { use } from "./recipe.js";
import { forgetRequest } from "./request.js";
import { state } from "./room.js";

let looks = null;

export async function open() {
  if (!state()) return;
  looks ??= await waiting(() => ask("GET", "/looks"));
  if (!looks) return;
  const families = [...new Set(looks.map((one) => one.family))];
  const shown = dialog("Looks", families.map((family) => element("div", { className: "choice" },
    element("h3", {}, capital(family)),
    element("div", { className: "fields" }, ...looks.filter((one) => one.family === family).map(button)))));

  function button(look) {
    return element("button", { type: "button", title: look.description, onclick: () => put(look) }, capital(look.name));
  }

  async function put(look) {
    shown.close();
    forgetRequest();
    if (await use(look.recipe, true)) notice(`${capital(look.name)}: ${look.description}`, "news");
  }
}
