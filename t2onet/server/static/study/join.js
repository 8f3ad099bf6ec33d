/* Joining: a name or none, and on to one's own link. */

import { byId, call, own, trying } from "./common.js";

byId("join").addEventListener("submit", (event) => {
  event.preventDefault();
  trying(async () => {
    const { person } = await call("POST", `join/${encodeURIComponent(own())}`, { name: byId("name").value });
    location.replace(`/study/${person}`);
  });
});
