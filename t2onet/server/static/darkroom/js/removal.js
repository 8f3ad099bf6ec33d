/* Photos leave the page, and can be brought back: by the notice, by Ctrl+Z right after, or by U. */

import { byId } from "./dom.js";
import { notice, waiting } from "./notices.js";
import { remove as takeAway, restore, room, state } from "./room.js";

const removed = [];

export async function remove(photo = room.current) {
  const name = room.photos.find((one) => one.photo === photo)?.name;
  if (name === undefined) return; // it is removed already
  await waiting(async () => {
    await takeAway(photo);
    const one = { photo, left: standing() };
    one.shown = notice(`${name} is removed.`, "news", { action: ["Undo", () => bringBack(one)] });
    removed.push(one);
  });
  if (document.activeElement === document.body) afterwards().focus({ preventScroll: true });
}

/** Bring back the photo that was removed last, or that one. */
export function bringBack(one = removed.at(-1)) {
  if (!one) return undefined;
  removed.splice(removed.indexOf(one), 1);
  one.shown.remove();
  return waiting(() => restore(one.photo));
}

/** Whether removing a photo was the last thing that was done. */
export const isLast = () => Boolean(removed.at(-1)?.shown.isConnected && removed.at(-1).left === standing());

const standing = () => `${room.current} ${state()?.revision}`;

/** Where the keyboard goes on when what it was on is gone. */
const afterwards = () => (byId("strip").hidden ? byId("open") : byId("strip").querySelector("[aria-current=true]"));
