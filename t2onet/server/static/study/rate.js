/* Rating: the pictures of a page, stars for each, and on. */

import { byId, call, element, flips, own, picture, show, showProgress, sideOf, trying } from "./common.js";

const STARS = [1, 2, 3, 4, 5];
const me = `people/${encodeURIComponent(own())}`;
let page = null;

const cards = () => [...byId("pictures").children];
const starsOf = (card) => Number(card.querySelector("input:checked")?.value ?? 0);
const focusOn = (card) => card?.querySelector(".picture").focus();

function card(token, place) {
  const title = `Picture ${place + 1}`;
  const image = element("img", { src: picture(token), alt: title });
  const button = element("button", { type: "button", className: "picture", "aria-label": `${title}; hold to see the original` }, image);
  flips(button, image, byId("input").src);
  const stars = STARS.map((n) =>
    element("label", { title: `${n} of 5` },
      element("input", { type: "radio", name: token, value: n, "aria-label": n === 1 ? "1 star" : `${n} stars`, onchange: changed }),
      element("span", { "aria-hidden": "true" })));
  return element("fieldset", { className: "rated" }, button, element("legend", {}, title), element("div", { className: "stars" }, ...stars));
}

function changed() {
  const open = cards().filter((one) => !starsOf(one)).length;
  byId("send").disabled = open > 0;
  byId("open").textContent = open ? `${open} without stars` : "";
}

async function next() {
  const said = await call("POST", `${me}/next`);
  page = said.page;
  if (page === null) {
    showProgress(said.study, 1, 1, "done");
    show("end");
    return;
  }
  showProgress(said.study, page.done, page.done + page.left, `${page.done} done, ${page.left} to go`);
  byId("input").src = sideOf(page.page, "input");
  byId("request").textContent = page.request;
  byId("pictures").replaceChildren(...page.pictures.map(card));
  changed();
  show("page");
  scrollTo(0, 0);
}

async function send() {
  const button = byId("send");
  if (button.disabled) return;
  button.disabled = true;
  const stars = Object.fromEntries(cards().map((one, place) => [page.pictures[place], starsOf(one)]));
  await trying(async () => {
    await call("PUT", `${me}/pages/${page.page}/stars`, { stars });
    await next();
  });
  if (page !== null) changed();
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || page === null) return;
  const all = cards();
  const found = all.findIndex((one) => one.contains(document.activeElement));
  const at = Math.max(found, 0);
  if (STARS.includes(Number(event.key))) {
    all[at].querySelector(`input[value="${event.key}"]`).click();
    const open = [...all.slice(at + 1), ...all.slice(0, at)].find((one) => !starsOf(one));
    if (open) focusOn(open);
    else byId("send").focus();
  } else if (document.activeElement.type === "radio") {
    return; // arrows and Enter mean what they always do there
  } else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
    const step = found < 0 ? 0 : event.key === "ArrowRight" ? 1 : -1;
    focusOn(all[(at + step + all.length) % all.length]);
  } else if (event.key === "Enter" && document.activeElement !== byId("send")) {
    send();
  } else {
    return;
  }
  event.preventDefault();
}

byId("input").addEventListener("load", ({ target }) => {
  byId("pictures").classList.toggle("wide", target.naturalWidth > target.naturalHeight);
});
byId("page").addEventListener("submit", (event) => { event.preventDefault(); send(); });
document.addEventListener("keydown", press);
trying(next);
