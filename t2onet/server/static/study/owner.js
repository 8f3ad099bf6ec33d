/* The owner's side: who does what, requests to review, results. The token stands behind the # of the address. */

import { byId, call, element, showProgress, sideOf, trying } from "./common.js";

const headers = { Authorization: `Bearer ${location.hash.slice(1)}` };
const owner = (method, path, body) => call(method, `owner/${path}`, body, headers);
const address = (kind, token) => `${location.origin}/${kind}/${token}`;
const cell = (inside, className = "") => element("td", { className }, inside);
const percent = (part, whole) => (whole ? `${Math.round((100 * part) / whole)} %` : "");

const COLUMNS = {
  rating: [["Name"], ["State"], ["Pages", "number"], ["Checks passed", "number"], ["Last"], ["Link"], [""]],
  annotation: [["Name"], ["State"], ["Pages", "number"], ["Accepted", "number"], ["Rejected", "number"], ["To review", "number"],
    ["Different texts", "number"], ["Last"], ["Link"], [""]],
};

async function load() {
  const said = await owner("GET", "progress");
  byId("owner").hidden = false;
  showProgress(said.study, said.answers, said.wanted, `${said.answers} of ${said.wanted} answers`);
  document.title = said.study;
  Object.assign(byId("join"), { href: address("join", said.token), textContent: address("join", said.token) });
  byId("columns").replaceChildren(element("tr", {}, ...COLUMNS[said.kind].map(([name, kind = ""]) => element("th", { className: kind }, name))));
  byId("people").replaceChildren(...said.people.map((person) => row(person, said.kind)));
  byId("places").textContent = `${said.taken} of ${said.places} places are taken, ${said.unused} by people who have answered nothing yet.`;
  byId("rating").hidden = said.kind !== "rating";
  byId("annotation").hidden = said.kind !== "annotation";
  if (said.kind === "rating") await showResults();
  else showChoice(said.people);
}

function row(person, kind) {
  const figures = kind === "rating"
    ? [person.known ? `${person.passed} of ${person.known} (${percent(person.passed, person.known)})` : ""]
    : [person.accepted, person.rejected, person.pending, person.different];
  return element("tr", {},
    cell(person.name), cell(person.state), cell(person.pages, "number"), ...figures.map((one) => cell(one, "number")),
    cell(person.last ? new Date(1000 * person.last).toLocaleString() : ""),
    cell(element("a", { href: address("study", person.link) }, "link")),
    cell(element("span", {}, ...decisions(person))));
}

function decisions(person) {
  const choices = { accepted: "Accept", blocked: "Block" };
  const buttons = Object.entries(choices).filter(([state]) => state !== person.state).map(([state, name]) => decision(name, person, () => {
    if (state === "blocked" && !confirm(`Block ${person.name}? What they did no longer counts.`)) return null;
    return owner("PUT", `people/${person.id}/state`, { state });
  }));
  if (!person.pages) buttons.push(decision("Remove", person, () => owner("DELETE", `people/${person.id}`)));
  return buttons.flatMap((button) => [button, " "]);
}

function decision(name, person, act) {
  return element("button", { type: "button", "aria-label": `${name} ${person.name}`, onclick: () => trying(async () => {
    await act();
    await load();
  }) }, name);
}

async function showResults() {
  const { results } = await owner("GET", "results");
  byId("means").replaceChildren(...results.means.map((mean) => element("tr", {},
    cell(mean.dataset), cell(mean.system), cell(mean.mean.toFixed(2), "number"),
    cell(`${mean.low.toFixed(2)} to ${mean.high.toFixed(2)}`), cell(mean.ratings, "number"))));
  const left = results.raters.filter((rater) => rater.left_out).map((rater) => `${rater.name} (${rater.left_out})`);
  const figure = (value) => (value === null ? "nothing to compare yet" : value.toFixed(3));
  byId("agreement").textContent = `Agreement between raters (Krippendorff's alpha): ${figure(results.agreement)}. `
    + `Of raters with themselves: ${figure(results.self_agreement)}. `
    + (left.length ? `Left out: ${left.join(", ")}.` : "Nobody is left out.");
}

function showChoice(people) {
  const chosen = byId("person").value;
  byId("person").replaceChildren(element("option", { value: "" }, "everybody"),
    ...people.map((person) => element("option", { value: person.id }, `${person.name} (${person.state}, ${person.pending} to review)`)));
  byId("person").value = chosen;
  if (!byId("requests").children.length) list();
}

async function list(after = 0) {
  const person = byId("person").value;
  const found = await owner("GET", `requests?verdict=${byId("verdict").value}&after=${after}${person && `&person=${person}`}`);
  const cards = found.map(card);
  if (after) byId("requests").append(...cards);
  else byId("requests").replaceChildren(...(cards.length ? cards : [element("li", { className: "faint" }, "There is none.")]));
  byId("more").hidden = found.length < 50;
  byId("more").onclick = () => trying(() => list(found.at(-1).id));
}

function card(request) {
  const sides = ["input", "target"].map((side) => element("img", { src: sideOf(request.page, side), alt: side === "input" ? "Before" : "After", loading: "lazy" }));
  const note = element("input", { value: request.note, placeholder: "Note", maxLength: 1000, "aria-label": "Note" });
  const verdicts = [["accepted", "Accept"], ["rejected", "Reject"]].map(([review, name]) =>
    element("button", { type: "button", "aria-pressed": String(request.review === review), onclick: () => judge(request, review, note, verdicts) }, name));
  const said = request.said.length ? [element("p", { className: "faint" }, `Known before: ${request.said.join(" / ")}`)] : [];
  const kind = request.qualifying ? ", qualification" : "";
  return element("li", {}, element("div", { className: "two" }, ...sides), element("p", { className: "text" }, request.text), ...said,
    element("p", { className: "faint" }, `${request.name}, ${request.sample}${kind}`), element("div", { className: "verdict" }, ...verdicts, note));
}

function judge(request, review, note, buttons) {
  return trying(async () => {
    request.review = request.review === review ? "pending" : review;
    await owner("PUT", `requests/${request.id}/review`, { review: request.review, note: note.value });
    ["accepted", "rejected"].forEach((one, place) => buttons[place].setAttribute("aria-pressed", String(request.review === one)));
    await load();
  });
}

byId("invite").addEventListener("submit", (event) => {
  event.preventDefault();
  trying(async () => {
    await owner("POST", "people", { name: byId("name").value });
    byId("name").value = "";
    await load();
  });
});
byId("free").addEventListener("submit", (event) => {
  event.preventDefault();
  trying(async () => {
    const { freed } = await owner("POST", "people/free", { idle_minutes: byId("idle").valueAsNumber });
    await load();
    byId("places").append(` ${freed} ${freed === 1 ? "place was" : "places were"} freed.`);
  });
});
byId("export").addEventListener("click", () => trying(async () => {
  const text = await owner("GET", "export.csv");
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: `${document.title}.csv` });
  link.click();
  URL.revokeObjectURL(link.href);
}));
for (const id of ["person", "verdict"]) byId(id).addEventListener("change", () => trying(() => list()));
trying(load);
