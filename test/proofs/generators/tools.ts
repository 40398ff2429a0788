/** A note for users of a tool, and a pattern in the generated files that shows that it is true. */
export type Note = { readonly text: string; readonly sign: RegExp };

/** A client generator as a merchant would use it, in a folder that contains `openapi.yaml` and `openapi.json`. */
export type Tool = {
  /** The name of its program in `test/proofs/generators/clients/typescript/`. */
  readonly name: string;
  /** Its name on npm. */
  readonly packageName: string;
  /** Further packages that it needs. */
  readonly beside?: readonly string[];
  /** Writes the client into `payments/` or `payments.ts`. */
  readonly command: string;
  /** A file of `test/proofs/generators/clients/typescript/` that the command reads in addition to the contract. */
  readonly configuration?: string;
  /** Its types, as type expressions in the folder of its program. */
  readonly types: {
    readonly refundRequest: string;
    readonly subscriptionRequest: string;
    /** The body of a delivery; left out when the tool generates none. */
    readonly event?: string;
  };
  readonly notes: readonly Note[];
};

const RESOURCES = {
  Refund: ["Pending", "Authorized", "TerminalFailed"],
  Payment: ["Settled", "Failed", "Covered"],
};
const EVENTS = [
  ...Object.entries(RESOURCES).flatMap(([resource, statuses]) => statuses.map((status) => resource + status)),
  ...["AccountLinked", "AccountUnlinked", "CustomerCreated"],
];

/** The types of a tool that names them after the schemas. */
const namedIn = (module: string) => ({
  refundRequest: `import("${module}").RefundRequest`,
  subscriptionRequest: `import("${module}").SubscriptionRequest`,
  event: EVENTS.map((name) => `import("${module}").${name}Event`).join(" | "),
});
const NAMED = namedIn("./payments");

/** The four that npm installs most, besides those that our own client is made with. */
export const tools: readonly Tool[] = [
  {
    name: "hey-api",
    packageName: "@hey-api/openapi-ts",
    beside: ["typescript"],
    command: "npx openapi-ts -i openapi.yaml -o payments",
    types: { ...NAMED, event: 'import("./payments").Webhooks["body"]' },
    notes: [
      {
        text: "Needs TypeScript 5. `response` is undefined when the call itself failed.",
        sign: /response\?: Response/,
      },
    ],
  },
  {
    name: "orval",
    packageName: "orval",
    command: "npx orval --config orval.config.cjs",
    configuration: "orval.config.cjs",
    types: NAMED,
    notes: [
      {
        text: "Set the server's address in the configuration file; without one, addresses have no host.",
        sign: /process\.env\.PAYMENTS_URL/,
      },
    ],
  },
  {
    name: "swagger-typescript-api",
    packageName: "swagger-typescript-api",
    command:
      "npx swagger-typescript-api generate --path openapi.yaml --output payments --name client.ts --enum-style=union --disable-throw-on-error",
    types: namedIn("./payments/client"),
    notes: [
      {
        text: 'Set `format: "json"` for all calls; otherwise it does not read responses. `data` and `error` are typed as if both were always present.',
        sign: /type: "application\/json",\s+\.\.\.params/,
      },
    ],
  },
  {
    name: "openapi-typescript-codegen",
    packageName: "openapi-typescript-codegen",
    command: "npx openapi --input openapi.yaml --output payments",
    types: NAMED,
    notes: [
      {
        text: "Throws every problem as an untyped error, and does not expose the status of a success.",
        sign: /public readonly body: any/,
      },
    ],
  },
];
