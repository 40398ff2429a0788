import { createRequire } from "node:module";
import fc from "fast-check";

/**
 * The seed of random cases where a test names none: the same for every run, so that a failed run can be repeated.
 * `SEED=2 npx vitest run test/unit/server/domain` tries others.
 */
fc.configureGlobal({ seed: Number(process.env.SEED ?? 20_260_101) });

/*
 * For each server that starts, express-openapi-validator compiles its schema of OpenAPI documents, even with `validateApiSpec:
 * false`. That takes a quarter of the time of a start, so a process of tests compiles it only once.
 */
type Options = { readonly version: string };
type Validator = new (options: Options) => object;

const require = createRequire(import.meta.url);
const library: {
  OpenAPISchemaValidator: Validator & { readonly shared?: Validator };
} = require("express-openapi-validator/dist/framework/openapi.schema.validator.js");
const compiled = new Map<string, object>();
const { OpenAPISchemaValidator: Original } = library;

// The test files of a worker share their modules, so this file may run many times.
if (!Original.shared) {
  library.OpenAPISchemaValidator = class {
    static readonly shared = Original;
    constructor(options: Options) {
      const known = compiled.get(options.version) ?? new Original(options);
      compiled.set(options.version, known);
      // biome-ignore lint/correctness/noConstructorReturn: the library calls it with `new`
      return known;
    }
  };
}
