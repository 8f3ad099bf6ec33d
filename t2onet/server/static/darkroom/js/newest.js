/* Work on the newest of what is wanted; what was overtaken meanwhile is left out. */

import { trying } from "./notices.js";

const running = new Set();

/** `work(thing, overtaken)` is never run twice at a time. */
export function newest(work) {
  let busy = null;
  let next = null;

  async function through() {
    while (next !== null) {
      const one = next.thing;
      next = null;
      await trying(() => work(one, () => next !== null));
    }
    running.delete(busy);
    busy = null;
  }

  return (thing) => {
    next = { thing };
    if (busy === null) running.add(busy = through());
    return busy;
  };
}

/** Resolves when nothing of this kind is being worked on. */
export async function idle() {
  while (running.size) await Promise.all(running);
}
