/* Calls to the server, and nothing else. Every other file asks through here. */

import { capital } from "./dom.js";

const ROOT = "/api/v1";

/** What the server refuses, in a sentence fit to be shown. */
export class Refusal extends Error {
  constructor(kind, message, status) {
    super((/^[a-z]+ /.test(message) ? capital(message) : message) + (/[.!?]$/.test(message) ? "" : "."));
    Object.assign(this, { kind, status });
  }
}

async function send(method, path, body, headers, signal) {
  let answer;
  try {
    answer = await fetch(ROOT + path, { method, body, headers, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal("offline", "the server cannot be reached; is it still running?", 0);
  }
  if (answer.ok) return answer;
  const said = await answer.json().catch(() => ({}));
  throw new Refusal(said.error?.kind, said.error?.message ?? `the server answered ${answer.status}`, answer.status);
}

const asJson = { "Content-Type": "application/json" };

/** The JSON that answers; null where there is none. */
export async function ask(method, path, body) {
  const given = body === undefined;
  const answer = await send(method, path, given ? undefined : JSON.stringify(body), given ? {} : asJson);
  return answer.status === 204 ? null : answer.json();
}

/** A picture that is made for a body. */
export async function picture(path, body, signal) {
  return (await send("POST", path, JSON.stringify(body), asJson, signal)).blob();
}

/** Bring a file, as it is; `progress` is told the share that is sent. */
export function bring(path, file, progress) {
  return new Promise((resolve, reject) => {
    const call = new XMLHttpRequest();
    call.open("POST", `${ROOT}${path}?name=${encodeURIComponent(whole(file.name.slice(-200)))}`);
    call.responseType = "json";
    call.upload.onprogress = (event) => event.lengthComputable && progress(event.loaded / event.total);
    call.onload = () => {
      if (call.status === 201) return resolve(call.response);
      const error = call.response?.error;
      return reject(new Refusal(error?.kind, error?.message ?? `the server answered ${call.status}`, call.status));
    };
    call.onerror = () => reject(new Refusal("offline", `${file.name} could not be sent; is the server still running?`, 0));
    call.send(file);
  });
}

/** Without halves of characters, which no address can hold. */
const whole = (name) => name.replace(/[\ud800-\udfff]/gu, "");

/** Where a picture of a photo is. */
export const preview = (photo, query) => `${ROOT}${photo}/preview.jpg?${new URLSearchParams(query)}`;

/** Let the browser keep a file of the server. */
export function download(url, name) {
  const link = document.createElement("a");
  Object.assign(link, { href: url, download: name });
  link.click();
}
