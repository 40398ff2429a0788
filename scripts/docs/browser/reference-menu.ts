/** Marks in the reference's menu what the reader sees: Redoc keeps the address in step with scrolling, without an event. */
export function startReferenceMenu(): void {
  const menu = document.getElementById("menu");
  if (!menu || !document.getElementById("redoc")) return;
  const links = [...menu.querySelectorAll<HTMLAnchorElement>('a[href^="reference.html"]')];
  let marked: HTMLAnchorElement | undefined;
  const mark = () => {
    const shown = links.find(({ hash }) => hash !== "" && location.hash.startsWith(hash)) ?? links[0];
    if (shown === marked) return;
    for (const link of links) link.removeAttribute("aria-current");
    shown?.setAttribute("aria-current", "page");
    const group = shown?.closest("details");
    if (group) group.open = true;
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
