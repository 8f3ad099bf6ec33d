/* What is on the table: the session, its photos, and their current edits. Changes are made one after another. */

import { ask, Refusal } from "./api.js";
import { remembered } from "./dom.js";
import { notice, trying } from "./notices.js";

const KEY = "t2o-session";
const LINK_LOST = "This link leads to no photos here: it is unknown, or they have expired. Add photos to begin again.";
const PHOTO_LOST = "This photo is no longer kept here: it has expired, or was removed elsewhere. Add it again to go on.";
const PHOTOS_LOST = "Your photos of last time are no longer kept here. Add them again to go on.";
const bus = new EventTarget();
const states = new Map();
let last = Promise.resolve();
let unsaved = null;

export const room = { session: null, photos: [], current: null, operations: new Map(), limits: {}, suffixes: [], formats: {} };

/** Events: `photos` (the list changed), `photo` (another one is on the table), `edit` (its edit changed). */
export const on = (name, listener) => bus.addEventListener(name, (event) => listener(event.detail));
export const tell = (name, detail) => bus.dispatchEvent(new CustomEvent(name, { detail }));

export const state = (photo = room.current) => states.get(photo) ?? null;
export const address = (photo = room.current) => `${room.session}/photos/${photo}`;

/** Find the session that the address, this tab or this browser knows; a new one is made with the first photo. */
export async function begin() {
  const [about, operations] = await Promise.all([ask("GET", "/about"), ask("GET", "/operations")]);
  const { limits, readable_suffixes: suffixes, output_formats: formats } = about;
  Object.assign(room, { limits, suffixes, formats });
  room.operations = new Map(operations.map((one) => [one.name, one]));
  const found = linked() === null
    ? await find(sessionStorage.getItem(KEY) || remembered.get("session", ""), PHOTOS_LOST)
    : await find(linked(), LINK_LOST);
  if (found) enter(found);
  tell("photos");
  if (room.photos.length) await choose(room.photos[0].photo);
}

const linked = () => new URLSearchParams(location.hash.slice(1)).get("session");

/** A session by its name, or null; what is unknown or has expired is said. */
async function find(named, lost) {
  if (!named) return null;
  try {
    return await ask("GET", `/sessions/${encodeURIComponent(named)}`);
  } catch (error) {
    if (!(error.status >= 400 && error.status < 500) || error.status === 401) throw error;
    remember("");
    notice(lost, "bad", { stays: true });
    return null;
  }
}

/** Let this tab and this browser find a session again; a link to another one is taken from the address bar. */
function remember(session) {
  sessionStorage.setItem(KEY, session);
  remembered.set("session", session);
  if (linked() !== null && linked() !== session) window.history.replaceState(null, "", location.pathname);
}

export async function ensureSession() {
  if (room.session === null) enter(await ask("POST", "/sessions"));
}

function enter(session) {
  remember(session.session);
  room.session = `/sessions/${encodeURIComponent(session.session)}`;
  room.photos = session.photos;
}

/** Forget a session that has expired. */
export function leave() {
  Object.assign(room, { session: null, photos: [], current: null });
  states.clear();
  tell("photos");
  tell("photo");
}

/** Put a photo on the table. */
export async function choose(photo) {
  await settled();
  accept(states.get(photo) ?? await ask("GET", address(photo)));
  room.current = photo;
  tell("photo");
  tell("edit");
}

export function added(brought) {
  states.set(brought.photo, brought);
  room.photos.push({ photo: brought.photo, name: brought.name, opened: true, revision: 0 });
  tell("photos");
}

export async function remove(photo) {
  await quiet();
  await ask("DELETE", address(photo));
  const place = room.photos.findIndex((one) => one.photo === photo);
  room.photos.splice(place, 1);
  states.delete(photo);
  tell("photos");
  if (photo !== room.current) return;
  const next = room.photos[Math.min(place, room.photos.length - 1)];
  if (next) return choose(next.photo);
  room.current = null;
  tell("photo");
}

/** Bring back a photo that was removed, and put it on the table. */
export async function restore(photo) {
  const { photos } = await ask("POST", `${address(photo)}/restore`);
  room.photos = photos;
  tell("photos");
  await choose(photo);
}

function accept(told) {
  states.set(told.photo, told);
  const listed = room.photos.find((one) => one.photo === told.photo);
  if (listed) Object.assign(listed, { revision: told.revision, opened: true });
}

/** Change the photo on the table: `body` gets its revision. Resolves to the answer, or undefined if refused. */
export async function change(method, path, body = {}) {
  await settled();
  const photo = room.current;
  const made = last.then(() => trying(() => changed(photo, method, path, body)));
  last = made;
  return made;
}

async function changed(photo, method, path, body) {
  try {
    const answer = await ask(method, `${address(photo)}/${path}`, { ...body, revision: states.get(photo).revision });
    accept(answer.state ?? answer);
    if (photo === room.current) tell("edit");
    return answer;
  } catch (error) {
    if (error.kind === "not_found") throw new Error(PHOTO_LOST);
    if (!(error instanceof Refusal) || error.kind !== "conflict") throw error;
    accept(await ask("GET", address(photo)));
    if (photo === room.current) tell("edit");
    notice("This photo was changed elsewhere meanwhile; this is how it stands now.", "news");
    return undefined;
  }
}

/** What is adjusted by hand is put a moment later, or before anything else happens. */
export function soon(work, delay = 250) {
  clearTimeout(unsaved?.timer);
  unsaved = { work, timer: setTimeout(settled, delay) };
}

/** Resolves when what was adjusted is put, and all changes are answered. */
export async function quiet() {
  await settled();
  await last;
}

export async function settled() {
  if (unsaved === null) return;
  const { work, timer } = unsaved;
  clearTimeout(timer);
  unsaved = null;
  await work();
}
