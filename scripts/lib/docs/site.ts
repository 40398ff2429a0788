/** A page that is written in Markdown, or made as Markdown. */
export type PageSource = {
  /** Its place on the site, and the name of its Markdown file. */
  readonly slug: string;
  /** Where it is written. Links in other pages name this file. */
  readonly file: string;
  /** For a file that has no title of its own. */
  readonly title?: string;
  /** Whether its second-level headings are chapters that hold the third-level ones in the menu. */
  readonly chapters?: true;
  /** What it is good for, in one line; for the list that programs read. */
  readonly about: string;
};

/** A part of the menu: pages, and tags of the contracts whose operations are shown. */
export type Group = {
  readonly title: string;
  readonly tags: readonly string[];
  readonly pages: readonly PageSource[];
};

const guide = (slug: string, about: string): PageSource => ({ slug, file: `docs/guides/${slug}.md`, about });

/** A guide with headings of a third level. */
const longGuide = (slug: string, about: string): PageSource => ({ ...guide(slug, about), chapters: true });

/**
 * The whole site, in the order of its menu. A guide in docs/guides that is missing here fails the build: nothing that is
 * written stays unread.
 */
export const GROUPS: readonly Group[] = [
  {
    title: "Guides",
    tags: [],
    pages: [
      guide("start", "From nothing to a refund and its event, in five minutes"),
      guide("refunds-step-by-step", "Every step of a refund, and what to do when one fails"),
      guide("receiving-webhooks", "Subscribe, verify and handle events, in Node and other languages"),
      guide("testing-with-the-sandbox", "Payments for every case, and a clock that you move"),
      {
        slug: "client",
        file: "client/README.md",
        title: "Our client",
        chapters: true,
        about: "The typed client for JavaScript and TypeScript",
      },
      longGuide("generate-your-own-client", "What other generators make of the contract, tried"),
      guide("clients-compared", "Our client beside those of other services"),
      guide("contract-tests-with-prism", "A mock and a proxy of the contract in your CI, ready to copy"),
      guide("going-live", "From the sandbox to production, step by step"),
      guide("replicas", "Several servers on one PostgreSQL, behind a balancer"),
      longGuide("runbook", "Running the service: what to watch, and what to do when"),
      longGuide("security", "What protects the service, risk by risk, and the tests that show it"),
      guide("versioning", "What may change under /v1, and how you notice"),
    ],
  },
  {
    title: "Reference",
    tags: ["Refunds", "Webhooks", "Events"],
    pages: [
      { slug: "states", file: "docs/states.md", about: "The states of a refund and every move between them" },
      {
        slug: "problems",
        file: "docs/problems.md",
        chapters: true,
        about: "Every error code with its cause and remedy",
      },
    ],
  },
  {
    title: "Sandbox",
    tags: ["Payments", "Clock", "Notifications", "Sandbox"],
    pages: [
      {
        slug: "sandbox-records",
        file: "openapi/sandbox/info.md",
        title: "What is always there",
        about: "Merchants and payments that every sandbox has",
      },
    ],
  },
  {
    title: "Background",
    tags: [],
    pages: [
      {
        slug: "interface",
        file: "docs/interface.md",
        chapters: true,
        about: "What is specified, clause by clause",
      },
      {
        slug: "decisions",
        file: "docs/decisions.md",
        chapters: true,
        about: "What was decided where the interface is silent or contradicts itself, and why",
      },
      { slug: "traceability", file: "docs/traceability.md", about: "Which tests enforce which clause" },
      {
        slug: "performance",
        file: "docs/performance.md",
        about: "What the benchmarks measure, what was reached, and where the time goes",
      },
      { slug: "extensions", file: "openapi/extensions.md", about: "What the contract says beyond OpenAPI" },
      {
        slug: "changelog",
        file: "CHANGELOG.md",
        about: "What changed in each release, and how severe it is",
      },
    ],
  },
];
