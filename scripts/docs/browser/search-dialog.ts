import { createSearch, type Entry, type Hit } from "../search/search.ts";

/** Creates the search dialog, which opens at each `docs-search` event. */
export function start(entries: readonly Entry[]): void {
  const search = createSearch(entries);
  const dialog = document.createElement("dialog");
  dialog.className = "search-dialog";
  dialog.setAttribute("aria-label", "Search");
  dialog.innerHTML =
    '<input type="search" aria-label="Search the docs" placeholder="Search: partial refund, timeout, signature…" autocomplete="off" spellcheck="false"><ol class="hits"></ol><p class="no-hits" role="status"></p>';
  document.body.append(dialog);
  const input = dialog.querySelector("input") as HTMLInputElement;
  const list = dialog.querySelector("ol") as HTMLOListElement;
  const status = dialog.querySelector("p") as HTMLParagraphElement;

  const show = () => {
    const hits = search(input.value);
    list.replaceChildren(...hits.map(toItem));
    status.textContent = describe(input.value.trim(), hits.length);
  };
  const move = (event: KeyboardEvent) => {
    const links = [...list.querySelectorAll("a")];
    const now = links.indexOf(document.activeElement as HTMLAnchorElement);
    if (event.key === "Enter" && now < 0) links[0]?.click();
    else if (event.key === "ArrowDown") links[Math.min(now + 1, links.length - 1)]?.focus();
    else if (event.key === "ArrowUp") (links[now - 1] ?? input).focus();
    else return;
    event.preventDefault();
  };
  const open = () => {
    if (!dialog.open) dialog.showModal();
    input.select();
  };

  input.addEventListener("input", show);
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && document.activeElement !== input) return;
    move(event);
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || (event.target as Element).closest("a")) dialog.close();
  });
  addEventListener("docs-search", open);
}

function describe(query: string, count: number): string {
  if (query === "") return "";
  if (count === 0) return `Nothing found for “${query}”.`;
  return `${count} ${count === 1 ? "page" : "pages"}`;
}

function toItem({ page, heading, url, excerpt }: Hit): HTMLLIElement {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = url;
  const parts = [
    ["strong", page],
    ["span", heading],
    ["small", excerpt],
  ] as const;
  for (const [tag, text] of parts) {
    if (text === "") continue;
    const part = document.createElement(tag);
    part.textContent = text;
    link.append(part);
  }
  item.append(link);
  return item;
}
