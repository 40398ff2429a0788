/**
 * The parts of the server from the lowest layer to the highest. A part imports only parts of lower layers, and its own files.
 * Parts on one line do not know each other.
 */
const SERVER_LAYERS = [
  // The sandbox's files in this line run in browsers, or in programs that call a sandbox.
  ["domain/", "sandbox/console/", "sandbox/calls\\.ts"],
  ["contract/", "config/"],
  ["observability/"],
  ["async/"],
  ["storage/database/"],
  ["storage/webhooks/"],
  ["storage/payments/"],
  ["storage/operators/", "storage/citus/"],
  ["storage/[^/]+$"],
  ["auth/", "webhooks/"],
  ["http/"],
  ["process/"],
  ["operators/", "sandbox/commands/", "sandbox/handlers/"],
  ["sandbox/(pages|sandbox|settings)\\.ts"],
  ["sandbox/(greeting|start-sandbox)\\.ts"],
  ["sandbox/exec/"],
  ["cli.ts", "sandbox/(cli|index)\\.ts"],
];

const toPattern = (part) => `^server/${part.replace(/(?<!\\)\.ts$/, "\\.ts$")}`;

/** One rule for each part: what it must not import. */
function layerRules() {
  return SERVER_LAYERS.flatMap((layer, level) =>
    layer.map((part) => ({
      name: `layers: ${part.replace("[^/]+$", "")}`,
      comment: "An import from a lower layer to a higher one, or between two parts of one layer.",
      severity: "error",
      from: { path: toPattern(part) },
      to: {
        path: SERVER_LAYERS.slice(level)
          .flat()
          .filter((other) => other !== part)
          .map(toPattern),
      },
    })),
  );
}

/** The folders of the project from the highest to the lowest: an import leads downwards, or stays in its folder. */
const FOLDERS = [["test"], ["scripts"], ["server"], ["client"], ["openapi"]];

function folderRules() {
  return FOLDERS.slice(1).flatMap((level, index) =>
    level.map((folder) => ({
      name: `downwards: ${folder}`,
      comment:
        "An import leads down: test, scripts, server, client, openapi. What ships imports no tool and no test.",
      severity: "error",
      from: { path: `^${folder}/` },
      to: {
        path: `^(${[...FOLDERS.slice(0, index + 1).flat(), ...level.filter((other) => other !== folder)].join("|")})/`,
      },
    })),
  );
}

/**
 * The import rules of the architecture: what each part may know of the others. `npm run lint` enforces them.
 * @type {import("dependency-cruiser").IConfiguration}
 */
export default {
  forbidden: [
    {
      name: "no-cycles",
      comment: "Two modules that need each other, be it for a type, are one module, or three.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "folders-one-way",
      comment:
        "Folders that import each other, be it types alone. It compares the folders that hold the files, not those above them.",
      severity: "error",
      scope: "folder",
      from: {},
      to: { circular: true },
    },
    {
      name: "domain-is-pure",
      comment: "Rules know no server, no storage and no network: they are tested without any.",
      severity: "error",
      from: { path: "^server/domain/" },
      to: {
        pathNot: [
          "^server/domain/",
          "^openapi/generated/",
          "temporal-polyfill",
          "us-federal-holidays",
          "node_modules/uuid/",
        ],
      },
    },
    ...layerRules(),
    {
      name: "layers: in none",
      comment: "Name the layer of this file, or of its folder, in SERVER_LAYERS.",
      severity: "error",
      from: { orphan: false, path: "^server/", pathNot: SERVER_LAYERS.flat().map(toPattern) },
      to: {},
    },
    {
      name: "distribution-apart",
      comment:
        "Only the store that wraps the plain one knows of distribution, and the command that distributes a database.",
      severity: "error",
      from: {
        path: "^server/",
        pathNot: "^server/storage/((store|distributed)\\.ts|citus/)|^server/operators/",
      },
      to: { path: "^server/storage/citus/" },
    },
    {
      name: "webhooks-know-no-express",
      severity: "error",
      from: { path: "^server/(storage|webhooks|auth)/" },
      to: { path: "node_modules/express" },
    },
    {
      name: "storage-is-handed-in",
      comment: "Handlers get storage from app.ts, and so import its types alone.",
      severity: "error",
      from: { path: "^server/(http|sandbox)/" },
      to: { path: "^server/storage/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "no-driver-outside-storage",
      comment: "But the settings ask the driver how it reads the database's address.",
      severity: "error",
      from: { path: "^server/", pathNot: "^server/(storage/|config/database-url\\.ts$)" },
      to: { path: "node_modules/(kysely|pg|@electric-sql)/" },
    },
    {
      name: "client-stands-alone",
      comment: "Merchants install the client without the server.",
      severity: "error",
      from: { path: "^client/" },
      to: {
        pathNot: ["^client/", "^openapi/generated/types\\.ts$", "node_modules/(openapi-fetch|fast-sha256)"],
      },
    },
    {
      name: "conformance-knows-no-server",
      comment: "The conformance kit is for any server of the contract.",
      severity: "error",
      from: { path: "^test/conformance/" },
      to: { path: "^server/" },
    },
    {
      name: "kits-take-no-set-up",
      comment:
        "The conformance kit and the exam ship. Of the tests' helpers they take the local server alone.",
      severity: "error",
      from: { path: "^test/(conformance|certify|reporting)/" },
      to: {
        path: "^test/",
        pathNot: ["^test/$1/", "^test/reporting/", "^test/helpers/network/local-server\\.ts$"],
      },
    },
    {
      name: "helpers-know-no-kit",
      comment: "The kits take the local server from the helpers, so that nothing leads back.",
      severity: "error",
      from: { path: "^test/helpers/" },
      to: { path: "^test/(conformance|certify|reporting|proofs)/" },
    },
    ...folderRules(),
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
