// What is wider than the page scrolls in its box; the keyboard must reach the box then, and only then.
const judge = (box) => {
  if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  else box.removeAttribute("tabindex");
};
// The content is watched as well: it may grow, by a font or a picture that comes late, in a box that stays as it is.
const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) judge(target.closest(".scroll"));
});
for (const box of document.querySelectorAll(".scroll")) {
  judge(box); // before the first frame, for what looks at the page as soon as it is loaded
  for (const part of [box, ...box.children]) sizes.observe(part);
}
