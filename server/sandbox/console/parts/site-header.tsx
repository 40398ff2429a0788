import { useEffect, useState } from "preact/hooks";
import { currentTheme, followTheme, switchTheme } from "./theme.ts";

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
