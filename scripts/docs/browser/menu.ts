/** Shows the current page in the menu, and in the reference the operation that the reader sees. */
export function startMenu(): void {
  const menu = document.getElementById("menu");
  if (!menu) return;
  scrollToCurrent(menu);
  menu.addEventListener("toggle", () => scrollToCurrent(menu)); // on a phone, where it is hidden until then
  if (document.getElementById("redoc")) followReference(menu);
}

/** The menu is longer than most windows. `scrollIntoView` would move where the first Tab starts, too. */
function scrollToCurrent(menu: HTMLElement): void {
  const current = menu.querySelector<HTMLElement>("a[aria-current]");
  if (!current) return;
  const top = current.offsetTop - menu.scrollTop;
  if (top < 0 || top + current.offsetHeight > menu.clientHeight)
    menu.scrollTop = current.offsetTop - menu.clientHeight / 2;
}

/** Redoc keeps the address in step with scrolling, without an event. */
function followReference(menu: HTMLElement): void {
  const links = [...menu.querySelectorAll<HTMLAnchorElement>('a[href^="reference.html"]')];
  let marked: HTMLAnchorElement | undefined;
  const mark = () => {
    const shown = links.find(({ hash }) => hash !== "" && location.hash.startsWith(hash)) ?? links[0];
    if (shown === marked) return;
    for (const link of links) link.removeAttribute("aria-current");
    shown?.setAttribute("aria-current", "page");
    const group = shown?.closest("details");
    if (group) group.open = true;
    scrollToCurrent(menu);
    marked = shown;
  };
  addEventListener("hashchange", mark);
  addEventListener("scroll", () => requestAnimationFrame(mark), { passive: true });
  // On a phone the menu covers the page, which stays the same when a link leads to another part of it.
  menu.addEventListener("click", ({ target }) => {
    if ((target as Element).closest("a") && menu.matches(":popover-open")) menu.hidePopover();
  });
  mark();
}
