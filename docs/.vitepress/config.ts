import { type DefaultTheme, defineConfig } from "vitepress";
import llms from "vitepress-plugin-llms";
import { toAnchor } from "../../openapi/document/markdown-headings.ts";
import { pagesOfContract } from "../../scripts/docs/pages.ts";

/* The configuration of the docs site, which VitePress builds: its menu, its search, and how its pages are rendered. */

type Links = Readonly<Record<string, string>>;

const section = (text: string, links: Links): DefaultTheme.SidebarItem => ({
  text,
  items: Object.entries(links).map(([name, link]) => ({ text: name, link })),
});

const MENU = [
  section("Reviewers", {
    "Interface and decisions": "/interface",
    Decisions: "/decisions",
    "API reference": "/reference.html",
    States: "/states",
    "Error codes": "/problems",
    Extensions: "/extensions",
    "What changed": "/changelog",
  }),
  section("Merchants", {
    Start: "/guides/start",
    Packages: "/guides/packages",
    Refunds: "/guides/refunds-step-by-step",
    Webhooks: "/guides/receiving-webhooks",
    Sandbox: "/guides/testing-with-the-sandbox",
    "Test payments": "/sandbox-records",
    "Sandbox's own calls": "/sandbox-reference.html",
    Console: "/guides/console",
    Exam: "/guides/before-you-go-live",
    "Refunds paid twice": "/guides/refunds-paid-twice",
    "JavaScript client": "/client",
    "Other languages": "/guides/clients-by-language",
    Versioning: "/guides/versioning",
    Glossary: "/guides/glossary",
  }),
  section("Implementers", {
    "Conformance kit": "/guides/conformance-kit",
    "Contract tests": "/guides/contract-tests-with-prism",
  }),
];

/** Pages for those who run the service: they have a menu of their own, and merchants don't find them in the search. */
const OPERATORS: Links = {
  "Going live": "/operators/going-live",
  Runbook: "/operators/runbook",
  Scale: "/operators/scale",
  Performance: "/performance",
};
const operatorsMenu = [section("Operators", OPERATORS)];
const isForOperators = (file: string) => Object.values(OPERATORS).includes(`/${file.replace(/\.md$/, "")}`);

// biome-ignore lint/style/noDefaultExport: VitePress reads its configuration from there.
export default defineConfig({
  title: "Refunds and webhooks",
  description: "Refund a payment from a linked bank account, and get a webhook for every change.",
  lang: "en",
  base: "/docs/",
  outDir: "./dist",
  cacheDir: "../.cache/vitepress",
  // The scripts that are left inline are the same on all pages, so that one policy has the hashes of all.
  metaChunk: true,
  head: [["link", { rel: "icon", href: "data:," }]],
  markdown: {
    anchor: { slugify: toAnchor },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    languageAlias: { mjs: "js" },
    config(markdown) {
      const { code_inline, fence } = markdown.renderer.rules;
      // Indented code is shown as fenced code is, which the keyboard can scroll.
      if (fence) markdown.renderer.rules.code_block = fence;
      // In code, two braces are not an expression of Vue.
      markdown.renderer.rules.code_inline = (tokens, index, ...rest) => {
        tokens[index]?.attrSet("v-pre", "");
        return code_inline?.(tokens, index, ...rest) ?? "";
      };
    },
  },
  themeConfig: {
    nav: [
      { text: "Start", link: "/guides/start" },
      { text: "Reference", link: "/reference.html", target: "_self" },
      { text: "Decisions", link: "/decisions" },
      { text: "Operators", link: "/operators/going-live" },
    ],
    sidebar: {
      ...Object.fromEntries(Object.values(OPERATORS).map((link) => [link, operatorsMenu])),
      "/": MENU,
    },
    outline: [2, 3],
    notFound: { linkLabel: "Take me home" },
    search: {
      provider: "local",
      options: {
        _render: (text, env, markdown) =>
          isForOperators(env.relativePath) ? "" : markdown.render(text, env),
      },
    },
  },
  vite: { plugins: [pagesOfContract(), llms({ injectLLMHint: false })] },
});
