/* Where edits are kept, and what could not be kept as usual: each sentence is said once. */

import { notice } from "./notices.js";
import { on, state } from "./room.js";

const WHERE = {
  sidecar: (name) => `Your edit is saved beside the photo with every change, as ${name}.t2o.json.`,
  server: () => "Your edit is kept by the server with every change, also when it stops.",
  memory: () => "Your edit is kept until the server stops.",
};
const said = new Set();

export function setUp() {
  on("edit", () => {
    for (const one of state().remarks) {
      if (!said.has(one)) notice(one, state().saved === "sidecar" ? "news" : "bad");
      said.add(one);
    }
  });
}

/** Where the edit of the photo on the table is kept. */
export const place = () => WHERE[state().saved](state().name);
