/** The search of every page. The index is fetched when somebody searches. */
const root = new URL("../../", import.meta.url);
const form = document.querySelector("#search");
const query = document.querySelector("#query");
const results = document.querySelector("#results");
const shownMax = 20;

form.hidden = false;
form.addEventListener("submit", (event) => event.preventDefault());
query.addEventListener("input", () => void search());

let index;

async function readIndex() {
  const pages = await (await fetch(new URL("docs/search.json", root))).json();
  const routes = await routeEntries().catch(() => []);
  return [...pages, ...routes].map((entry) => ({
    ...entry,
    titleWords: wordsOf(`${spaced(entry.title)} ${spaced(entry.heading)} ${entry.also ?? ""}`),
    words: wordsOf(entry.text),
  }));
}

/** A word is found by its beginning: each has a space before it. */
const wordsOf = (text) => ` ${text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, " ")}`;

/** The words of a name such as DeadLetters, beside the name. */
const spaced = (name) => `${name} ${name.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")}`;

async function routeEntries() {
  const { paths } = await (await fetch(new URL("openapi.json", root))).json();
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, summary, description = "" }]) => ({
      path: `docs/api#${operationId}`,
      title: `${method.toUpperCase()} ${path}`,
      heading: summary,
      text: `${operationId} ${description}`,
    })),
  );
}

async function search() {
  const asked = query.value;
  const words = wordsOf(asked)
    .split(" ")
    .filter(Boolean)
    .map((word) => ` ${word}`);
  if (words.length === 0) {
    results.hidden = true;
    return;
  }
  index ??= readIndex();
  const entries = await index;
  // Somebody typed on while the index was read.
  if (asked !== query.value) return;
  const found = entries
    .filter((entry) => words.every((word) => entry.titleWords.includes(word) || entry.words.includes(word)))
    .map((entry) => ({ entry, rank: words.filter((word) => entry.titleWords.includes(word)).length }))
    .sort((a, b) => b.rank - a.rank);
  show(
    found.map(({ entry }) => entry),
    words,
  );
}

function show(found, words) {
  const count = document.createElement("p");
  const shown = found.length > shownMax ? `, ${shownMax} are shown` : "";
  count.textContent = found.length === 0 ? "Nothing was found." : `${found.length} found${shown}.`;
  const list = document.createElement("ol");
  for (const entry of found.slice(0, shownMax)) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = new URL(entry.path, root);
    link.textContent = entry.heading ? `${entry.title}: ${entry.heading}` : entry.title;
    item.append(link, ` ${excerpt(entry, words)}`);
    list.append(item);
  }
  results.replaceChildren(count, list);
  results.hidden = false;
}

function excerpt({ text, words }, asked) {
  const at = Math.max(
    0,
    Math.min(...asked.map((word) => words.indexOf(word)).filter((place) => place >= 0), text.length) - 40,
  );
  return text.slice(at === text.length - 40 ? 0 : at, at + 120);
}
