import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import "../../shared.css";
import "./style.css";

/** The address with which the samples are written. */
const WRITTEN = "http://127.0.0.1:3000";

/** Makes samples name the sandbox that serves the page. Elsewhere they stay, because they use tokens of a sandbox. */
function nameOwnAddress(): void {
  const { hostname, origin } = location;
  if (origin === WRITTEN || !["127.0.0.1", "localhost"].includes(hostname)) return;
  for (const code of document.querySelectorAll(".vp-doc code")) {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode())
      text.nodeValue = text.nodeValue?.replaceAll(WRITTEN, origin) ?? null;
  }
}

// biome-ignore lint/style/noDefaultExport: VitePress reads its theme from there.
export default {
  extends: DefaultTheme,
  enhanceApp({ router }) {
    if (import.meta.env.SSR) return;
    addEventListener("load", nameOwnAddress);
    router.onAfterRouteChange = () => void requestAnimationFrame(nameOwnAddress);
  },
} satisfies Theme;
