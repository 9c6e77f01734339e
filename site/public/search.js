// Search over the index that the build has made; index and engine are loaded when the search is first opened, from the
// site's own host.
const dialog = document.querySelector("#search");
const input = dialog.querySelector("input");
const status = dialog.querySelector("p");
const list = dialog.querySelector("ol");
const MOST = 12;
let engine;

document.querySelector("#open-search").addEventListener("click", open);
input.addEventListener("input", look);
dialog.addEventListener("keydown", move);
dialog.addEventListener("click", ({ target }) => {
  if (target === dialog || target.closest("a")) dialog.close();
});
document.addEventListener("keydown", (event) => {
  const isTyping = /^(?:INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if ((event.key === "k" && (event.ctrlKey || event.metaKey)) || (event.key === "/" && !isTyping)) {
    event.preventDefault();
    open();
  }
});

function open() {
  if (!dialog.open) dialog.showModal();
  input.select();
  engine ??= import(`${dialog.dataset.base}pagefind/pagefind.js`);
}

async function look() {
  const words = input.value;
  const found = await (await engine).debouncedSearch(words, {}, 120);
  if (found === null || input.value !== words) return;
  const pages = await Promise.all(found.results.slice(0, MOST).map((result) => result.data()));
  if (input.value !== words) return;
  const places = pages.flatMap((page) => placesIn(page, words));
  const named = places.filter(({ isNamed }) => isNamed);
  const shown = [...named, ...places.filter(({ isNamed }) => !isNamed)].slice(0, MOST);
  list.replaceChildren(...shown.map(toItem));
  const number = found.results.length;
  status.textContent = words === "" ? "" : `${number} ${number === 1 ? "page" : "pages"}`;
}

/** The best two places of a page, and those whose heading is what was typed, such as an error code or a function. */
function placesIn({ meta, sub_results: places }, words) {
  const name = words.trim().toLowerCase();
  return places
    .map(({ url, title, excerpt }) => ({
      url,
      excerpt,
      title: title === meta.title ? title : `${meta.title}: ${title}`,
      isNamed: title.toLowerCase().replace("()", "") === name,
    }))
    .filter(({ isNamed }, index) => isNamed || index < 2);
}

/** Pagefind has escaped the excerpt; titles are text. */
function toItem({ url, title, excerpt }) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  const text = document.createElement("small");
  link.href = url;
  link.append(title, text);
  text.innerHTML = excerpt;
  item.append(link);
  return item;
}

/** Arrows go through what was found; Enter in the field opens the first. */
function move(event) {
  const links = [...list.querySelectorAll("a")];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "Enter" && event.target === input) links[0]?.click();
  if (step === undefined) return;
  event.preventDefault();
  const next = links.indexOf(document.activeElement) + step;
  (next < 0 ? input : links[Math.min(next, links.length - 1)])?.focus();
}
