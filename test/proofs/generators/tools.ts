/** A note for users of a tool, and a pattern in the generated files that shows that it is true. */
export type Note = { readonly text: string; readonly sign: RegExp };

/** The flags that this project uses beyond `strict`. */
export const FLAGS = [
  "exactOptionalPropertyTypes",
  "noUncheckedIndexedAccess",
  "noImplicitOverride",
  "noFallthroughCasesInSwitch",
  "verbatimModuleSyntax",
  "erasableSyntaxOnly",
] as const;

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
  /** The flag beyond `strict` with which its client does not compile, as the guide says. */
  readonly refuses?: (typeof FLAGS)[number];
  readonly notes: readonly Note[];
};

/** The four that npm installs most, besides those that our own client is made with. */
export const tools: readonly Tool[] = [
  {
    name: "hey-api",
    packageName: "@hey-api/openapi-ts",
    beside: ["typescript"],
    command: "npx openapi-ts -i openapi.yaml -o payments",
    refuses: "exactOptionalPropertyTypes",
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
    refuses: "erasableSyntaxOnly",
    notes: [
      {
        text: "Throws every problem as an untyped error, and does not expose the status of a success.",
        sign: /public readonly body: any/,
      },
    ],
  },
];
