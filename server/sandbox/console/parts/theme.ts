/** The colour scheme of docs and console: what a reader has chosen in any of them, or else that of the system. */
type Theme = "light" | "dark";

/** Where VitePress, which builds the docs, remembers the reader's choice: `light`, `dark` or `auto`. */
const THEME_KEY = "vitepress-theme-appearance";

const systemDark = matchMedia("(prefers-color-scheme: dark)");

export function currentTheme(): Theme {
  const choice = localStorage.getItem(THEME_KEY);
  if (choice === "light" || choice === "dark") return choice;
  return systemDark.matches ? "dark" : "light";
}

/** Shows the page in its colour scheme. */
export function applyTheme(): void {
  document.documentElement.classList.remove("light", "dark");
  document.documentElement.classList.add(currentTheme());
}

/** Changes between light and dark, in every open page of this origin. */
export function switchTheme(): void {
  localStorage.setItem(THEME_KEY, currentTheme() === "dark" ? "light" : "dark");
  applyTheme();
}

/** Applies what other pages and the system change, and calls the listener after each change. */
export function followTheme(listener: () => void): void {
  const follow = () => {
    applyTheme();
    listener();
  };
  systemDark.addEventListener("change", follow);
  addEventListener("storage", ({ key }) => key === THEME_KEY && follow());
}
