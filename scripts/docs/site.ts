/** A page that is written or generated as Markdown. */
export type PageSource = {
  /** Its name in addresses, and the name of its Markdown file. */
  readonly slug: string;
  /** Its source file. Links in other pages name this file. */
  readonly file: string;
  /** For a file without a title. */
  readonly title?: string;
  /** A short name for menus, window titles and the search; the title by default. */
  readonly name?: string;
  /** Whether its second-level headings are chapters that contain the third-level ones in the menu. */
  readonly chapters?: true;
  /** Its purpose in one line, for the list that programs read. */
  readonly about: string;
};

/** A part of the menu: pages, and tags of the contracts whose operations are shown. */
export type Group = {
  readonly title: string;
  readonly tags: readonly string[];
  readonly pages: readonly PageSource[];
};

const guide = (slug: string, name: string, about: string): PageSource => ({
  slug,
  name,
  file: `docs/guides/${slug}.md`,
  about,
});

/** A guide with third-level headings. */
const longGuide = (slug: string, name: string, about: string): PageSource => ({
  ...guide(slug, name, about),
  chapters: true,
});

/**
 * The whole site, by audience, in the order of its menu. A guide in docs/guides that is missing here fails the build,
 * because nobody would find it.
 */
export const GROUPS: readonly Group[] = [
  {
    title: "Merchants",
    tags: [],
    pages: [
      guide("start", "Start", "From nothing to a refund and its event, in five minutes"),
      guide(
        "packages",
        "Packages",
        "One line each for the sandbox, the client, the conformance kit and the server",
      ),
      guide("refunds-step-by-step", "Refunds", "Every step of a refund, and what to do when one fails"),
      guide(
        "receiving-webhooks",
        "Webhooks",
        "Subscribe, verify and handle events, in Node and other languages",
      ),
      guide("testing-with-the-sandbox", "Sandbox", "Payments for every case, and a clock that you move"),
      guide(
        "console",
        "Console",
        "A page that shows the sandbox at work: clock, refunds, requests, deliveries",
      ),
      {
        slug: "sandbox-records",
        file: "openapi/sandbox/info.md",
        title: "Test payments",
        about: "Merchants and payments that every sandbox has",
      },
      {
        slug: "client",
        file: "client/README.md",
        title: "JavaScript client",
        chapters: true,
        about: "The typed client for JavaScript and TypeScript",
      },
      longGuide(
        "clients-by-language",
        "Other languages",
        "Python, Java, Kotlin, Go, C#, PHP, Ruby and Rust: a generator each, tried",
      ),
      guide("clients-compared", "Client comparison", "Our client beside those of other services"),
      guide("versioning", "Versioning", "What may change under /v1, and how you notice"),
    ],
  },
  {
    title: "Reference",
    tags: ["Refunds", "Webhooks", "Events"],
    pages: [
      {
        slug: "states",
        name: "States",
        file: "docs/states.md",
        about: "The states of a refund and every transition between them",
      },
      {
        slug: "problems",
        name: "Error codes",
        file: "docs/problems.md",
        chapters: true,
        about: "Every error code with its cause and remedy",
      },
    ],
  },
  { title: "Sandbox", tags: ["Payments", "Clock", "Notifications", "Sandbox"], pages: [] },
  {
    title: "CI and implementers",
    tags: [],
    pages: [
      guide(
        "contract-tests-with-prism",
        "Contract tests",
        "A mock and a proxy of the contract in your CI, ready to copy",
      ),
      longGuide(
        "generate-your-own-client",
        "Generated clients",
        "What other generators make of the contract, tried",
      ),
      guide(
        "older-openapi",
        "OpenAPI 3.0",
        "The same contract for tools that do not read OpenAPI 3.1, and what it loses",
      ),
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
        slug: "extensions",
        name: "Extensions",
        file: "openapi/extensions.md",
        about: "What the contract says beyond OpenAPI",
      },
      {
        slug: "changelog",
        file: "CHANGELOG.md",
        about: "What changed in each release, and how severe it is",
      },
    ],
  },
  {
    title: "Operators",
    tags: [],
    pages: [
      guide("going-live", "Going live", "From the sandbox to production, step by step"),
      longGuide("runbook", "Runbook", "Running the service: what to watch, and what to do when"),
      guide("replicas", "Several servers", "Several servers on one PostgreSQL, behind a balancer"),
      guide("beyond-one-machine", "Beyond one machine", "What to do when one PostgreSQL is not enough"),
      longGuide(
        "security",
        "Security",
        "What protects the service, risk by risk, and the tests that show it",
      ),
      {
        slug: "performance",
        file: "docs/performance.md",
        about: "What the benchmarks measure, what was reached, and where the time goes",
      },
    ],
  },
];
