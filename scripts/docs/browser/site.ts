/* Runs in every page of the site: copy buttons, and the search, whose index is loaded on demand. */

import { currentTheme, followTheme, switchTheme } from "../../../server/sandbox/console/parts/theme.ts";
import { startMenu } from "./menu.ts";
import { startSearch } from "./search-dialog.ts";

function addCopyButtons(): void {
  for (const figure of document.querySelectorAll("figure.code:not(.output)")) {
    const button = createButton("Copy", () => figure.querySelector("code")?.textContent ?? "");
    figure.querySelector("figcaption")?.append(button);
  }
  const link = document.querySelector<HTMLAnchorElement>("a.as-markdown");
  // A page that is opened from disk may not fetch another file, so there it has only the link.
  if (!link || location.protocol === "file:") return;
  link.before(createButton("Copy page", async () => (await fetch(link.href)).text()));
}

function createButton(label: string, read: () => string | Promise<string>): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = label;
  button.addEventListener("click", async () => {
    const done = await write(await read());
    button.textContent = done ? "Copied" : "Press Ctrl+C";
    setTimeout(() => {
      button.textContent = label;
    }, 2000);
  });
  return button;
}

/** Only pages that come over https or from this machine have access to the clipboard. */
async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** The button says whether it is on, and stays in step with other tabs. */
function startThemeButton(): void {
  const button = document.querySelector(".theme-button");
  const show = () => button?.setAttribute("aria-pressed", String(currentTheme() === "dark"));
  button?.addEventListener("click", () => {
    switchTheme();
    show();
  });
  followTheme(show);
  show();
}

addCopyButtons();
startSearch();
startMenu();
startThemeButton();
