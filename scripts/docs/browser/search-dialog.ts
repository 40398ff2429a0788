import type { Found, Hit } from "../search/search.ts";
import type {} from "./search-index.ts";

/** Opens the search by its button, by Ctrl+K and by `/`. The dialog takes keys at once, while its index still loads. */
export function startSearch(): void {
  const button = document.querySelector(".search-button");
  if (!button) return;
  const dialog = document.createElement("dialog");
  dialog.className = "search-dialog";
  dialog.setAttribute("aria-label", "Search");
  dialog.innerHTML =
    '<input type="search" aria-label="Search the docs" placeholder="Search: partial refund, timeout, signature…" autocomplete="off" spellcheck="false"><p class="found" role="status"></p><ol class="hits"></ol>';
  document.body.append(dialog);
  const input = dialog.querySelector("input") as HTMLInputElement;
  const list = dialog.querySelector("ol") as HTMLOListElement;
  const status = dialog.querySelector("p") as HTMLParagraphElement;

  const show = () => {
    const query = input.value.trim();
    const found = globalThis.findInDocs?.(query);
    list.replaceChildren(...(found?.hits ?? []).map(toItem));
    status.textContent = query === "" ? "" : describe(found);
  };
  const move = (event: KeyboardEvent) => {
    const links = [...list.querySelectorAll("a")];
    const now = links.indexOf(document.activeElement as HTMLAnchorElement);
    if (event.key === "Enter" && now < 0) void load().then(() => list.querySelector("a")?.click());
    else if (event.key === "ArrowDown") links[Math.min(now + 1, links.length - 1)]?.focus();
    else if (event.key === "ArrowUp") (links[now - 1] ?? input).focus();
    else return;
    event.preventDefault();
  };
  const open = () => {
    if (!dialog.open) dialog.showModal();
    input.select();
    load().then(show, () => {
      status.textContent = "The search can't be loaded. Close it, and open it again to try once more.";
    });
  };

  input.addEventListener("input", show);
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && document.activeElement !== input) return;
    move(event);
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || (event.target as Element).closest("a")) dialog.close();
  });
  button.addEventListener("click", open);
  // Before Redoc's own listener in the reference, which would open a search that the bar replaces.
  addEventListener(
    "keydown",
    (event) => {
      if (!isShortcut(event)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      open();
    },
    true,
  );
}

function isShortcut({ key, ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean {
  if (key.toLowerCase() === "k") return ctrlKey || metaKey;
  const isTyping =
    target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");
  return key === "/" && !ctrlKey && !metaKey && !altKey && !isTyping;
}

let loading: Promise<void> | undefined;

function load(): Promise<void> {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = "search.js";
    script.addEventListener("load", () => resolve());
    script.addEventListener("error", () => {
      loading = undefined;
      reject(new Error("search.js can't be loaded"));
    });
    document.head.append(script);
  });
  return loading;
}

/** What was found; undefined while the index loads. */
function describe(found: Found | undefined): string {
  if (!found) return "Loading…";
  const { hits, missing } = found;
  if (missing.length > 0) return `Nothing about “${missing.join(" ")}”. Nearest:`;
  return `${hits.length} ${hits.length === 1 ? "page" : "pages"}`;
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
