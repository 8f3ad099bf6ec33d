/* Photos come in: dropped, pasted or picked, one or a folder; recipes may come with them, or alone. */

import { bring } from "./api.js";
import { byId, typing } from "./dom.js";
import { notice, waiting } from "./notices.js";
import { beside, isRecipe, open as openRecipe, withRecipe } from "./recipes.js";
import { added, choose, ensureSession, leave, room } from "./room.js";

const MIB = 2 ** 20;

export function setUp() {
  const buttons = { open: "photos-input", "choose-photos": "photos-input", "choose-folder": "folder-input" };
  for (const [button, input] of Object.entries(buttons)) {
    byId(button).addEventListener("click", () => byId(input).click());
  }
  for (const id of ["photos-input", "folder-input"]) {
    byId(id).addEventListener("change", (event) => { take([...event.target.files]); event.target.value = ""; });
  }
  let inside = 0;
  const over = (by) => (event) => {
    if (!event.dataTransfer?.types.includes("Files") || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    inside = Math.max(0, inside + by);
    byId("dropping").hidden = inside === 0;
  };
  addEventListener("dragenter", over(1));
  addEventListener("dragleave", over(-1));
  addEventListener("dragover", over(0));
  addEventListener("drop", async (event) => {
    event.preventDefault();
    inside = 0;
    byId("dropping").hidden = true;
    if (!document.querySelector("dialog[open]")) take(await dropped(event.dataTransfer));
  });
  addEventListener("paste", (event) => {
    if (!typing(event.target) && event.clipboardData.files.length) take([...event.clipboardData.files]);
  });
}

/** Let the picker show every file that can be opened; not all systems count RAW files as images. */
export function offer() {
  byId("photos-input").accept = accepted();
}

/** What a picker of photos shows. */
export const accepted = () => ["image/*", ...room.suffixes].join();

const isPhoto = ({ name, type }) =>
  type.startsWith("image/") || room.suffixes.some((suffix) => name.toLowerCase().endsWith(suffix));

/** The files of a drop, folders walked through. */
export async function dropped(transfer) {
  const entries = [...transfer.items].map((one) => one.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files];
  return (await Promise.all(entries.map(walked))).flat();
}

async function walked(entry) {
  if (entry.isFile) return [await new Promise((resolve, reject) => entry.file(resolve, reject))];
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) break;
    found.push(...some);
  }
  return (await Promise.all(found.map(walked))).flat();
}

/** Bring photos one after another, with their recipes; the first is put on the table. */
async function take(files) {
  const photos = files.filter(isPhoto);
  const recipes = files.filter(isRecipe);
  photos.sort((one, other) => one.name.localeCompare(other.name, undefined, { numeric: true }));
  if (!photos.length && recipes.length) return openRecipe(recipes[0]);
  if (!photos.length) return files.length ? notice("No photos were found among these files.") : undefined;
  let chosen = false;
  for (const [at, file] of photos.entries()) {
    const many = photos.length > 1 ? `${at + 1} of ${photos.length}: ` : "";
    const brought = await waiting(() => upload(file, (share) => said(`${many}${file.name}, ${Math.round(100 * share)} %`)));
    if (!brought) continue;
    added(await withRecipe(brought, beside(file, recipes)));
    if (!chosen) await choose(brought.photo);
    chosen = true;
  }
  said("");
}

const said = (words) => { byId("photo-facts").dataset.coming = words; };

/** Bring one photo; it is not listed yet. */
export async function upload(file, progress = () => undefined) {
  if (file.size > MIB * room.limits.upload_mb) {
    throw new Error(`${file.name} is larger than the ${room.limits.upload_mb} MiB allowed here.`);
  }
  const send = async () => { await ensureSession(); return bring(`${room.session}/photos`, file, progress); };
  try {
    return await send();
  } catch (error) {
    if (error.kind !== "not_found") throw error;
    leave();
    return send();
  }
}
