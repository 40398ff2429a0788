/**
 * The import rules of the architecture: what each part may know of the others. `npm run lint` enforces them.
 * @type {import("dependency-cruiser").IConfiguration}
 */
export default {
  forbidden: [
    {
      name: "no-cycles",
      comment: "Two modules that need each other are one module, or three.",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
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
    {
      name: "storage-knows-no-http",
      severity: "error",
      from: { path: "^server/storage/" },
      to: { path: ["^server/(http|sandbox|webhooks)/", "node_modules/express"] },
    },
    {
      name: "webhooks-know-no-http",
      severity: "error",
      from: { path: "^server/webhooks/" },
      to: { path: ["^server/(http|sandbox)/", "node_modules/express"] },
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
      severity: "error",
      from: { path: "^server/", pathNot: "^server/storage/" },
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
      name: "client-takes-types-only",
      severity: "error",
      from: { path: "^client/" },
      to: { path: "^openapi/generated/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "nothing-imports-tests",
      severity: "error",
      from: { pathNot: "^test/" },
      to: { path: "^test/" },
    },
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
