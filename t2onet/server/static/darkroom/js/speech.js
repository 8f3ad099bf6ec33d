/* Speak the request, where the browser can listen. Many send the sound to their maker, so that is said first. */

import { byId } from "./dom.js";
import { notice } from "./notices.js";
import { say } from "./request.js";

const Recognition = globalThis.SpeechRecognition ?? globalThis.webkitSpeechRecognition;
let warned = false;
let listening = null;

export function setUp() {
  if (!Recognition) return;
  byId("speak").hidden = false;
  byId("speak").addEventListener("click", () => (listening ? listening.stop() : listen()));
}

async function listen() {
  const local = await isLocal();
  if (!local && !warned) {
    warned = true;
    const words = "Your browser may send what you say to its maker to be understood; photos stay here.";
    notice(`${words} Press again to speak.`, "news");
    return;
  }
  listening = new Recognition();
  Object.assign(listening, { lang: "en-US", interimResults: true });
  if (local) listening.processLocally = true;
  listening.onresult = (event) => {
    byId("request").value = [...event.results].map((one) => one[0].transcript).join("");
    if (event.results[event.results.length - 1].isFinal) say(byId("request").value);
  };
  listening.onerror = (event) => notice(`Nothing was understood (${event.error}); type the request instead.`);
  listening.onend = () => { listening = null; byId("speak").setAttribute("aria-pressed", "false"); };
  byId("speak").setAttribute("aria-pressed", "true");
  listening.start();
}

/** Whether the sound stays on this machine. */
async function isLocal() {
  try {
    return await Recognition.available({ langs: ["en-US"], processLocally: true }) === "available";
  } catch {
    return false;
  }
}
