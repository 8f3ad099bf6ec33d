/* Everything is set up here, in the order in which news are passed on: first the recipe, then what shows it. */

import * as adjust from "./adjust.js";
import { byId } from "./dom.js";
import * as history from "./history.js";
import * as intake from "./intake.js";
import * as kept from "./kept.js";
import * as keys from "./keys.js";
import { waiting } from "./notices.js";
import * as overlay from "./overlay.js";
import * as places from "./places.js";
import * as recipe from "./recipe.js";
import * as recipes from "./recipes.js";
import * as request from "./request.js";
import { begin, on, state } from "./room.js";
import * as speech from "./speech.js";
import * as stage from "./stage.js";
import * as strength from "./strength.js";
import * as strip from "./strip.js";
import * as tools from "./tools.js";
import * as variants from "./variants.js";

for (const part of [recipe, adjust, strength, stage, overlay, tools, places, strip, request, variants, history, speech, intake, recipes, kept, keys]) part.setUp();
on("edit", () => {
  byId("undo").disabled = !state().can_undo;
  byId("redo").disabled = !state().can_redo;
});
addEventListener("hashchange", () => location.reload());
await waiting(begin);
adjust.offer();
intake.offer();
document.body.dataset.ready = "true";
