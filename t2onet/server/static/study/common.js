/* What the pages share: calls to the server, elements, and the progress above. */

const API = "/api/v1/study";

export const byId = (id) => document.getElementById(id);
export const picture = (token) => `${API}/ratings/${token}.jpg`;
export const sideOf = (page, side) => `${API}/pages/${page}/${side}.jpg`;

/** The answer's JSON (null where there is none); throws an Error fit to be shown. */
export async function call(method, path, body, headers = {}) {
  let answer;
  try {
    answer = await fetch(`${API}/${path}`, {
      method,
      headers: body === undefined ? headers : { "Content-Type": "application/json", ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Error("The server cannot be reached, and this is not saved yet. Try again in a moment.");
  }
  if (answer.status === 204) return null;
  const type = answer.headers.get("Content-Type") ?? "";
  const said = type.includes("json") ? await answer.json() : await answer.text();
  if (!answer.ok) {
    const refusal = new Error(said.error?.message ?? `The server answered ${answer.status}.`);
    throw Object.assign(refusal, { retryAfter: Number(answer.headers.get("Retry-After")) });
  }
  return said;
}

/** Run something that may fail; what went wrong stands in the message, which is otherwise empty. */
export async function trying(work) {
  const message = byId("message");
  try {
    message.textContent = "";
    return await work();
  } catch (error) {
    message.textContent = error.message;
    message.scrollIntoView({ block: "nearest" });
    return undefined;
  }
}

/** An element; texts become text, never markup. */
export function element(name, properties = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...inside);
  return made;
}

export function show(...ids) {
  for (const id of ["page", "waiting", "end"]) byId(id)?.toggleAttribute("hidden", !ids.includes(id));
}

export function showProgress(study, done, all, words) {
  byId("study").textContent = study;
  byId("progress").max = Math.max(all, 1);
  byId("progress").value = done;
  byId("count").textContent = words;
}

/** While it is pressed (or O is held), a picture gives way to another. */
export function flips(button, image, other) {
  const own = image.src;
  const flip = (on) => () => { image.src = on ? other : own; };
  button.addEventListener("pointerdown", flip(true));
  for (const ends of ["pointerup", "pointercancel", "pointerleave", "blur"]) button.addEventListener(ends, flip(false));
  button.addEventListener("keydown", (event) => {
    if (event.key === " " || event.key === "o" || event.key === "O") { flip(true)(); event.preventDefault(); }
  });
  button.addEventListener("keyup", flip(false));
  button.addEventListener("contextmenu", (event) => event.preventDefault());
}

export const own = () => decodeURIComponent(location.pathname.split("/").pop());
