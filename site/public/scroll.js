// What is wider than the page scrolls in its box; the keyboard must reach the box then, and only then.
const boxes = new ResizeObserver((entries) => {
  for (const { target } of entries)
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
});
for (const box of document.querySelectorAll(".scroll")) boxes.observe(box);
