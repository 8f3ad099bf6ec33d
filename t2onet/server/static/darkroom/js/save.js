/* Save the photo at full resolution, or the recipe for later and for other tools. */

import { ask, download } from "./api.js";
import { dialog, select } from "./dialog.js";
import { element } from "./dom.js";
import { place } from "./kept.js";
import { notice, waiting } from "./notices.js";
import { draft } from "./recipe.js";
import { address, room, settled, state } from "./room.js";

export function open() {
  if (!state()) return;
  const format = select("Format", [["", "As it came"], ...Object.entries(room.formats)], "save-format");
  const quality = element("input", { type: "number", id: "save-quality", min: 1, max: 100, placeholder: "own" });
  const { edited_width: width, edited_height: height, recipe, notes } = state();
  const untouched = recipe.steps.length === 0;
  const how = untouched
    ? "No step changes it: it comes out byte for byte."
    : `Full resolution, ${width} × ${height}, with its metadata.`;
  const photo = () => ({
    kind: "photo", ...(format.value && { format: format.value }), ...(quality.value && { quality: Number(quality.value) }),
  });
  const shown = dialog("Save", [
    element("div", { className: "choice" },
      element("h3", {}, "Photo"),
      element("p", { className: "faint" }, how),
      ...notes.map((one) => element("p", { className: "faint" }, one)),
      element("div", { className: "fields" },
        format.node, element("label", { className: "field" }, element("span", {}, "Quality"), quality)),
      button("Save photo", "main", photo)),
    element("div", { className: "choice" },
      element("h3", {}, "Recipe"),
      element("p", { className: "faint" }, "A small file beside the photo, to go on from or to use on others (t2o apply)."),
      element("p", { className: "faint", id: "kept" }, place()),
      button("Save recipe", "", () => ({ kind: "recipe" }))),
    element("div", { className: "choice" },
      element("h3", {}, "Look for other tools"),
      element("p", { className: "faint" }, "A colour table. Detail, effects, masks and crops cannot be part of it."),
      element("div", { className: "fields" },
        button("Save .cube", "", () => ({ kind: "cube", size: 33 })),
        button("Save HaldCLUT", "", () => ({ kind: "hald", size: 64 }))),
      element("p", { className: "faint then" }, "Settings and their table (.png), as a .zip; move the table to where the program keeps its own."),
      element("div", { className: "fields" },
        button("RawTherapee (.pp3)", "", () => ({ kind: "pp3" })),
        button("darktable (.xmp)", "", () => ({ kind: "xmp" })))),
  ]);

  function button(words, className, wanted) {
    return element("button", { type: "button", className, onclick: () => save(wanted(), shown) }, words);
  }
}

async function save(wanted, shown) {
  await settled();
  const made = await waiting(() => ask("POST", `${address()}/exports`, { ...wanted, recipe: draft() }));
  if (!made) return;
  shown.close();
  download(made.url, made.name);
  notice(`${made.name}, ${size(made.bytes)}${made.notes.length ? `. ${made.notes.join(" ")}` : ""}`, "news");
}

const size = (bytes) => (bytes < 1e5 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);
