import { useEffect, useState } from "preact/hooks";

/** The bar of the docs, so that both are one site. */
export function SiteHeader() {
  const [theme, setTheme] = useState(currentTheme);
  useEffect(() => followTheme(() => setTheme(currentTheme())), []);
  const toggle = () => {
    switchTheme();
    setTheme(currentTheme());
  };
  return (
    <div class="site-header">
      <a class="wordmark" href="/docs/">
        Refunds and webhooks
      </a>
      <nav aria-label="Main">
        <a href="/docs/guides/start.html">Start</a>
        <a href="/docs/reference.html">Reference</a>
        <a href="/docs/decisions.html">Decisions</a>
        <a href="/console" aria-current="page">
          Console
        </a>
      </nav>
      <button
        type="button"
        class="theme-button"
        aria-label="Dark colours"
        aria-pressed={theme === "dark"}
        onClick={toggle}
      >
        ◐
      </button>
    </div>
  );
}

/** The colour scheme of docs and console: what a reader has chosen in any of them, or else that of the system. */
type Theme = "light" | "dark";

/** Where VitePress, which builds the docs, remembers the reader's choice: `light`, `dark` or `auto`. */
const THEME_KEY = "vitepress-theme-appearance";

const systemDark = matchMedia("(prefers-color-scheme: dark)");

function currentTheme(): Theme {
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
function switchTheme(): void {
  localStorage.setItem(THEME_KEY, currentTheme() === "dark" ? "light" : "dark");
  applyTheme();
}

/** Applies what other pages and the system change, and calls the listener after each change. */
function followTheme(listener: () => void): void {
  const follow = () => {
    applyTheme();
    listener();
  };
  systemDark.addEventListener("change", follow);
  addEventListener("storage", ({ key }) => key === THEME_KEY && follow());
}
