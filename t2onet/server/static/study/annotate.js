/* Annotating: two photos, a sentence, and on. */

import { byId, call, flips, own, show, showProgress, sideOf, trying } from "./common.js";

const me = `people/${encodeURIComponent(own())}`;
let page = null;

function typed() {
  const { value, maxLength } = byId("text");
  byId("left").textContent = `${value.length} / ${maxLength}`;
  byId("send").disabled = value.trim().length < 3;
}

async function next() {
  const said = await call("POST", `${me}/next`);
  page = said.page;
  if (page === null) {
    const waiting = said.state === "waiting";
    showProgress(said.study, 1, 1, waiting ? "waiting" : "done");
    show(waiting ? "waiting" : "end");
    return;
  }
  showProgress(said.study, page.done, page.done + page.left, `${page.done} done, ${page.left} to go`);
  byId("input").src = sideOf(page.page, "input");
  const button = document.querySelector(".picture");
  const fresh = button.cloneNode(true);
  button.replaceWith(fresh);
  byId("target").src = sideOf(page.page, "target");
  flips(fresh, byId("target"), byId("input").src);
  byId("qualifying").hidden = !page.qualifying;
  byId("text").value = "";
  typed();
  show("page");
  scrollTo(0, 0);
  byId("text").focus({ preventScroll: true });
}

async function send() {
  const button = byId("send");
  if (button.disabled) return;
  button.disabled = true;
  await trying(async () => {
    await call("PUT", `${me}/pages/${page.page}/request`, { text: byId("text").value });
    await next();
  });
  typed();
}

byId("text").addEventListener("input", typed);
byId("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); send(); }
});
byId("page").addEventListener("submit", (event) => { event.preventDefault(); send(); });
byId("again").addEventListener("click", () => trying(next));
trying(next);
