const viewer = document.querySelector("openapi-explorer");

// It needs a whole address, and only the browser knows the one it came by.
viewer.setAttribute("server-url", location.origin);

// What scrolls in it can have the focus, so that the keyboard can scroll it.
viewer.addEventListener("spec-loaded", async () => {
  await viewer.updateComplete;
  viewer.shadowRoot.querySelector("main").tabIndex = 0;
  watch(viewer.shadowRoot);
});

const watched = new WeakSet();

/** Names the places for files, which the viewer leaves without a label, as soon as they are there. */
function nameFiles(root) {
  for (const input of root.querySelectorAll('input[type="file"]:not([aria-label])'))
    input.setAttribute("aria-label", "File to send as the body");
  for (const { shadowRoot } of root.querySelectorAll("api-request")) if (shadowRoot) watch(shadowRoot);
}

function watch(root) {
  if (watched.has(root)) return;
  watched.add(root);
  nameFiles(root);
  new MutationObserver(() => nameFiles(root)).observe(root, { childList: true, subtree: true });
}
