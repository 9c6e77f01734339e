// Shows in the menu where one is: the current page's line is scrolled to the middle, unless it is in sight.
const menu = document.querySelector("#starlight__sidebar");
const line = menu?.querySelector('a[aria-current="page"]');
if (menu && line) {
  const { top, bottom } = line.getBoundingClientRect();
  const box = menu.getBoundingClientRect();
  if (top < box.top || bottom > Math.min(box.bottom, innerHeight))
    menu.scrollTop += top - box.top - menu.clientHeight / 2;
}
