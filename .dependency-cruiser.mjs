/**
 * The parts of the server from the lowest layer to the highest. A part imports only parts of lower layers, and its own files.
 * Parts on one line do not know each other.
 */
const SERVER_LAYERS = [
  // The sandbox's files in this line run in browsers, or in programs that call a sandbox.
  ["domain/", "sandbox/console/", "sandbox/sandbox-client\\.ts"],
  ["contract/", "config/"],
  ["observability/"],
  ["async/"],
  ["storage/database/"],
  ["storage/webhooks/"],
  ["storage/payments/"],
  ["operators/statements/", "storage/citus/"],
  ["storage/[^/]+$"],
  ["auth/", "webhooks/"],
  ["http/"],
  ["process/"],
  ["operators/[^/]+$", "sandbox/features/"],
  ["sandbox/(console-page|wrap-in-sandbox|sandbox-settings)\\.ts"],
  ["sandbox/(greeting|start-sandbox)\\.ts", "sandbox/exec/"],
  ["sandbox/commands/"],
  ["cli.ts", "sandbox/(cli|index)\\.ts"],
];

const toPattern = (part) => `^server/${part.replace(/(?<!\\)\.ts$/, "\\.ts$")}`;

/** A rule: files of `from` import none of `to`. */
const forbid = (name, comment, from, to, scope = "module") => ({
  name,
  comment,
  from,
  to,
  scope,
  severity: "error",
});

/** One rule for each part: what it must not import. */
const layerRules = SERVER_LAYERS.flatMap((layer, level) =>
  layer.map((part) =>
    forbid(
      `layers: ${part.replace("[^/]+$", "")}`,
      "An import from a lower layer to a higher one, or between two parts of one layer.",
      { path: toPattern(part) },
      {
        path: SERVER_LAYERS.slice(level)
          .flat()
          .filter((other) => other !== part)
          .map(toPattern),
      },
    ),
  ),
);

/** The folders of the project from the highest to the lowest: an import leads downwards, or stays in its folder. */
const FOLDERS = ["test", "scripts", "server", "client", "openapi"];

const folderRules = FOLDERS.slice(1).map((folder, index) =>
  forbid(
    `downwards: ${folder}`,
    "An import leads down: test, scripts, server, client, openapi. What ships imports no tool and no test.",
    { path: `^${folder}/` },
    { path: `^(${FOLDERS.slice(0, index + 1).join("|")})/` },
  ),
);

/** What the domain may import, and what the client may. */
const DOMAIN = [
  "^server/domain/",
  "^openapi/generated/",
  "temporal-polyfill",
  "us-federal-holidays",
  "node_modules/uuid/",
];
const CLIENT = ["^client/", "^openapi/generated/(types|values)", "node_modules/(openapi-fetch|fast-sha256)"];
const KITS_OWN = ["^test/$1/", "^test/reporting/", "^test/helpers/network/local-server\\.ts$"];

/**
 * The import rules of the architecture: what each part may know of the others. `npm run lint` enforces them.
 * @type {import("dependency-cruiser").IConfiguration}
 */
export default {
  forbidden: [
    forbid(
      "no-cycles",
      "Two modules that need each other, be it for a type, are one module, or three.",
      {},
      { circular: true },
    ),
    forbid(
      "folders-one-way",
      "Folders that import each other, be it types alone. It compares the folders that hold the files, not those above them.",
      {},
      { circular: true },
      "folder",
    ),
    forbid(
      "domain-is-pure",
      "Rules know no server, no storage and no network: they are tested without any.",
      { path: "^server/domain/" },
      { pathNot: DOMAIN },
    ),
    ...layerRules,
    forbid(
      "layers: in none",
      "Name the layer of this file, or of its folder, in SERVER_LAYERS.",
      { orphan: false, path: "^server/", pathNot: SERVER_LAYERS.flat().map(toPattern) },
      {},
    ),
    forbid(
      "distribution-apart",
      "Only the store that wraps the plain one knows of distribution, and the command that distributes a database.",
      { path: "^server/", pathNot: "^server/(operators/|storage/(citus/|(open|distributed)-store\\.ts))" },
      { path: "^server/storage/citus/" },
    ),
    forbid(
      "webhooks-know-no-express",
      "Only http/ handles requests.",
      { path: "^server/(storage|webhooks|auth)/" },
      { path: "node_modules/express" },
    ),
    forbid(
      "storage-is-handed-in",
      "Handlers get storage from express-app.ts, and so import its types alone.",
      { path: "^server/(http|sandbox)/" },
      { path: "^server/storage/", dependencyTypesNot: ["type-only"] },
    ),
    forbid(
      "no-driver-outside-storage",
      "But the settings ask the driver how it reads the database's address.",
      { path: "^server/", pathNot: "^server/(storage/|operators/statements/|config/database-url\\.ts$)" },
      { path: "node_modules/(kysely|pg|@electric-sql)/" },
    ),
    forbid(
      "diff-stands-alone",
      "The comparison of documents works for any project.",
      { path: "^openapi/diff/" },
      { path: "^(test|scripts|server|client|openapi/(?!diff/))" },
    ),
    forbid(
      "client-stands-alone",
      "Merchants install the client without the server.",
      { path: "^client/" },
      { pathNot: CLIENT },
    ),
    forbid(
      "conformance-knows-no-server",
      "The conformance kit is for any server of the contract.",
      { path: "^test/conformance/" },
      { path: "^server/" },
    ),
    forbid(
      "kits-take-no-set-up",
      "The conformance kit and the exam ship. Of the tests' helpers they take the local server alone.",
      { path: "^test/(conformance|certify|reporting)/" },
      { path: "^test/", pathNot: KITS_OWN },
    ),
    forbid(
      "helpers-know-no-kit",
      "The kits take the local server from the helpers, so that nothing leads back.",
      { path: "^test/helpers/" },
      { path: "^test/(conformance|certify|reporting|proofs)/" },
    ),
    ...folderRules,
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "types", "default"],
    },
  },
};
