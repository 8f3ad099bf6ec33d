/* Earlier requests of this tab: the up arrow in the field where one types brings them back. */

const KEY = "t2o-requests";
const MOST = 50;
const asked = load();
let at = asked.length;

/** The requests that this tab has stored; none if something else is stored there. */
function load() {
  try {
    const stored = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

/** Keep a request; one that is repeated counts once. */
export function keep(request) {
  if (asked.at(-1) !== request) asked.push(request);
  asked.splice(0, asked.length - MOST);
  try { sessionStorage.setItem(KEY, JSON.stringify(asked)); } catch { /* full, or not allowed: this page still has them */ }
  at = asked.length;
}

/** Arrows go through the requests as long as nothing else is typed. */
export function setUp(field) {
  field.addEventListener("keydown", (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!by || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return;
    if (field.value === "") at = asked.length;
    else if (field.value !== asked[at]) return;
    const to = at + by;
    if (to < 0 || to > asked.length) return;
    event.preventDefault();
    at = to;
    field.value = asked[at] ?? "";
  });
}
