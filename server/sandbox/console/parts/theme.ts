/** The colour scheme of docs and console: what a reader has chosen in any of them, or else that of the system. */
type Theme = "light" | "dark";

/** Also read in the head of every page (`scripts/docs/browser/head.ts`), before anything is drawn. */
export const THEME_KEY = "theme";

/** Under which Redoc remembers its own; it would keep that of the system forever. */
const REDOC_KEY = "redoc.colorMode";

const systemDark = matchMedia("(prefers-color-scheme: dark)");

/** The choice, if there is one. Pages from files may have no storage. */
function readChoice(): Theme | undefined {
  try {
    const choice = localStorage.getItem(THEME_KEY);
    return choice === "light" || choice === "dark" ? choice : undefined;
  } catch {
    return undefined;
  }
}

export function currentTheme(): Theme {
  return readChoice() ?? (systemDark.matches ? "dark" : "light");
}

/** Shows the page in its colour scheme, and tells Redoc's script, which starts later. */
export function applyTheme(): void {
  const theme = currentTheme();
  document.documentElement.classList.remove("light", "dark");
  document.documentElement.classList.add(theme);
  try {
    if (readChoice()) localStorage.setItem(REDOC_KEY, theme);
    else localStorage.removeItem(REDOC_KEY);
  } catch {
    // The page has no storage, so that Redoc has none, either.
  }
}

/** Changes between light and dark, in every open page of this origin. */
export function switchTheme(): void {
  const next = currentTheme() === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(THEME_KEY, next);
  } catch {
    return;
  }
  applyTheme();
}

/** Applies what other pages and the system change, and calls the listener after each change here and there. */
export function followTheme(listener: () => void = () => {}): void {
  const follow = () => {
    applyTheme();
    listener();
  };
  systemDark.addEventListener("change", follow);
  addEventListener("storage", ({ key }) => key === THEME_KEY && follow());
}
