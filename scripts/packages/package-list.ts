/** The npm packages of this project, and what each contains. */
import { ensureConsole } from "../console/build-console.ts";
import { ensureDocs } from "../docs/build-docs.ts";

export type PackageSource = {
  /** The folder of its package.json and README.md. Its dependencies are the packages that the built modules import. */
  readonly folder: string;
  /** The modules that are run or imported by name. What they import is built with them. */
  readonly modules: readonly string[];
  /** The modules whose types are part of the package. */
  readonly typed?: readonly string[];
  /** Files that the modules read beside them, as patterns. */
  readonly files: readonly string[];
  /** Folders that are shipped beside the modules, and their names in the package. */
  readonly shipped?: Readonly<Record<string, string>>;
  /** Whether it ships the prepared files of an embedded store. */
  readonly cluster?: boolean;
  /** Packages that are built in, because npm would install many times as much as is used of them. */
  readonly bundled?: readonly string[];
  /** Whether npm has to install exactly what this project is tested with, because the package handles money. */
  readonly pinned?: boolean;
  /** Builds those of the files that are generated. */
  prepare?(): Promise<void>;
};

const CONTRACTS = "openapi/generated/*.yaml";
const DOCS = "docs/dist/**/*.*";

/** The packages beside the client, which TypeScript alone builds because it runs in browsers, too. */
export const PACKAGES = {
  sandbox: {
    folder: "server/sandbox",
    modules: ["server/sandbox/cli.ts", "server/sandbox/index.ts"],
    typed: ["server/sandbox/index.ts"],
    files: [CONTRACTS, DOCS, "server/sandbox/console/dist/*"],
    cluster: true,
    bundled: [
      "@18f/us-federal-holidays",
      "@prometheus-io/client",
      "ajv",
      "ajv-formats",
      "content-type", // which express-openapi-validator requires: Node 22.13 can't while it imports the same
      "express-openapi-validator",
      "junit-report-builder",
      "kysely",
      "temporal-polyfill",
      "undici",
    ],
    prepare: async () => {
      await ensureDocs();
      await ensureConsole();
    },
  },
  server: {
    folder: "server",
    modules: ["server/cli.ts"],
    files: [CONTRACTS, DOCS],
    shipped: { "server/operators/deployment": "run" },
    pinned: true,
    prepare: ensureDocs,
  },
  conformance: {
    folder: "test/conformance",
    modules: ["test/conformance/cli.ts", "test/conformance/index.ts"],
    typed: ["test/conformance/index.ts"],
    files: ["openapi/generated/openapi.yaml", "docs/{interface,decisions}.md"],
  },
  certify: {
    folder: "test/certify",
    modules: ["test/certify/cli.ts"],
    files: [CONTRACTS, "docs/{interface,decisions,guides/{receiving-webhooks,refunds-step-by-step}}.md"],
    cluster: true,
  },
} satisfies Record<string, PackageSource>;

export type PackageName = "client" | keyof typeof PACKAGES;

/** The names of all packages, without the scope. */
export const PACKAGE_NAMES: readonly PackageName[] = [
  "client",
  "sandbox",
  "conformance",
  "certify",
  "server",
];
