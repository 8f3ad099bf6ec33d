/* Joining: a name or none, and on to one's own link. */

import { byId, call, own, trying } from "./common.js";

byId("join").addEventListener("submit", (event) => {
  event.preventDefault();
  trying(async () => {
    try {
      const { person } = await call("POST", `join/${encodeURIComponent(own())}`, { name: byId("name").value });
      location.replace(`/study/${person}`);
    } catch (error) {
      if (error.retryAfter) wait(error);
      throw error;
    }
  });
});

/** When there is room again, by the visitor's own clock; until then the button rests. */
function wait(refusal) {
  const button = byId("begin");
  const then = new Date(Date.now() + 1000 * refusal.retryAfter);
  refusal.message = `${refusal.message}, at ${then.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}.`;
  button.disabled = true;
  setTimeout(() => { button.disabled = false; }, 1000 * refusal.retryAfter);
}
