// Shows in the menu where one is: the current page's line is scrolled to the middle, unless it is in sight.
const menu = document.querySelector("#starlight__sidebar");
const line = menu?.querySelector('a[aria-current="page"]') ?? pageAbove();
if (menu && line) {
  const { top, bottom } = line.getBoundingClientRect();
  const box = menu.getBoundingClientRect();
  if (top < box.top || bottom > Math.min(box.bottom, innerHeight))
    menu.scrollTop += top - box.top - menu.clientHeight / 2;
}

/** The line of the page that leads to this one, such as the list of all commands. */
function pageAbove() {
  const above = [...(menu?.querySelectorAll("a") ?? [])].find(
    ({ pathname }) =>
      location.pathname.startsWith(pathname) &&
      pathname.split("/").length === location.pathname.split("/").length - 1,
  );
  above?.setAttribute("aria-current", "true");
  return above;
}
