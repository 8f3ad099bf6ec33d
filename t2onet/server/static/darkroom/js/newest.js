/* Work on the newest of what is wanted; what was overtaken meanwhile is left out. */

import { trying } from "./notices.js";

/** `work(thing, overtaken)` is never run twice at a time. */
export function newest(work) {
  let busy = false;
  let next = null;
  return async (thing) => {
    next = { thing };
    if (busy) return;
    busy = true;
    while (next !== null) {
      const one = next.thing;
      next = null;
      await trying(() => work(one, () => next !== null));
    }
    busy = false;
  };
}
