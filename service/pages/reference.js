const viewer = document.querySelector("openapi-explorer");

// It needs a whole address, and only the browser knows the one it came by.
viewer.setAttribute("server-url", location.origin);

// What scrolls in it can have the focus, so that the keyboard can scroll it.
viewer.addEventListener("spec-loaded", async () => {
  await viewer.updateComplete;
  viewer.shadowRoot.querySelector("main").tabIndex = 0;
});
