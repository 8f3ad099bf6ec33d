/* Files of recipes and looks: opened on the photo on the table, or brought together with their photo. */

import { ask } from "./api.js";
import { byId } from "./dom.js";
import { notice, trying } from "./notices.js";
import { use } from "./recipe.js";
import { forgetRequest } from "./request.js";
import { address, room, state } from "./room.js";

const MIB = 2 ** 20;

export function setUp() {
  byId("recipe-input").addEventListener("change", (event) => {
    const [file] = event.target.files;
    if (file) open(file);
    event.target.value = "";
  });
}

export const pick = () => byId("recipe-input").click();

export const isRecipe = ({ name }) => name.toLowerCase().endsWith(".json");

/** The recipe among files that belongs to a photo. */
export const beside = (photo, files) => files.find(({ name }) => name === `${photo.name}.t2o.json`);

/** Open a recipe on the photo on the table. */
export async function open(file) {
  if (!state()) return notice("Add a photo first, then open the recipe on it.");
  const recipe = await trying(() => read(file));
  if (!recipe) return undefined;
  forgetRequest();
  if (await use(recipe, true)) notice(`${file.name}: ${state().description}`, "news");
  return undefined;
}

/** The photo that was brought, with the recipe that came with it; without, if that is refused. */
export async function withRecipe(brought, file) {
  const put = async () => ask("PUT", `${address(brought.photo)}/recipe`, { recipe: await read(file), revision: brought.revision, new: true });
  return (file && await trying(put)) ?? brought;
}

async function read(file) {
  if (file.size > MIB * room.limits.json_mb) {
    throw new Error(`${file.name} is larger than the ${room.limits.json_mb} MiB that a recipe may have here.`);
  }
  try {
    return JSON.parse(await file.text());
  } catch {
    throw new Error(`${file.name} is not a recipe: it is not JSON. Open a .t2o.json file or a look.`);
  }
}
