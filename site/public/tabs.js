// Shows one panel of each group of tabs: the one that was chosen last, on any page, or the first.
const kept = (label) => {
  try {
    return localStorage.getItem(`hookproof ${label}`);
  } catch {
    return null;
  }
};
const groups = [...document.querySelectorAll("[data-tabs]")].map(withTabs);
addEventListener("hashchange", showNamed);
showNamed();

/** A list of tabs above the panels of a group. */
function withTabs(group, number) {
  const label = group.dataset.tabs;
  const panels = [...group.children];
  const list = Object.assign(document.createElement("div"), { role: "tablist" });
  list.setAttribute("aria-label", label);
  const buttons = panels.map((panel, at) => {
    const button = Object.assign(document.createElement("button"), {
      type: "button",
      role: "tab",
      id: `tab-${number}-${at}`,
      textContent: panel.dataset.tab,
    });
    panel.id ||= `panel-${number}-${at}`;
    panel.role = "tabpanel";
    panel.setAttribute("aria-labelledby", button.id);
    button.setAttribute("aria-controls", panel.id);
    button.addEventListener("click", () => choose(label, panel.dataset.tab));
    button.addEventListener("keydown", (event) => {
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const next = panels.at(to % panels.length);
      choose(label, next.dataset.tab);
      list.children[panels.indexOf(next)].focus();
    });
    return button;
  });
  list.append(...buttons);
  group.prepend(list);
  const own = { label, panels, buttons };
  const wanted = kept(label);
  show(own, panels.some(({ dataset }) => dataset.tab === wanted) ? wanted : panels[0].dataset.tab);
  return own;
}

function show({ panels, buttons }, name) {
  for (const [at, panel] of panels.entries()) {
    const isIt = panel.dataset.tab === name;
    panel.hidden = !isIt;
    buttons[at].setAttribute("aria-selected", String(isIt));
    buttons[at].tabIndex = isIt ? 0 : -1;
  }
}

/** One choice is for all groups of its kind, and for the next page. */
function choose(label, name) {
  try {
    localStorage.setItem(`hookproof ${label}`, name);
  } catch {
    // A browser that keeps nothing shows it all the same.
  }
  for (const group of groups)
    if (group.label === label && group.panels.some(({ dataset }) => dataset.tab === name)) show(group, name);
}

/** A heading that the address names may stand in a panel that is not shown. */
function showNamed() {
  const target =
    location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const panel = target ? target.closest("[data-tab]") : null;
  const group = panel && groups.find(({ panels }) => panels.includes(panel));
  if (!group) return;
  show(group, panel.dataset.tab);
  target.scrollIntoView();
}
