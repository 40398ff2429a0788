import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readContract } from "../../../openapi/document/contract.ts";
import { readGenerated } from "../../../openapi/document/generated.ts";
import { installTools, runShell } from "../../helpers/process.ts";

/** A generator of npm, which writes a client into `out`. */
type Generator = {
  readonly packages: readonly string[];
  readonly command: string;
  readonly files?: Readonly<Record<string, string>>;
  /** The module that exports a type of each event, or `schemas` of Zod; undefined: it makes nothing of events. */
  readonly events?: string;
};

const GENERATORS: Readonly<Record<string, Generator>> = {
  "hey-api": {
    packages: ["@hey-api/openapi-ts@0.99.0"],
    command: "openapi-ts -i openapi.yaml -o out",
    events: "out/types.gen",
  },
  orval: {
    packages: ["orval@8.38.0"],
    command: "orval --input openapi.yaml --output out/api.ts --client fetch",
    events: "out/api",
  },
  kubb: {
    packages: ["cli", "core", "plugin-oas", "plugin-ts"].map((name) => `@kubb/${name}@4.39.3`),
    command: "kubb generate",
    files: {
      "kubb.config.mjs": `import { pluginOas } from "@kubb/plugin-oas";
import { pluginTs } from "@kubb/plugin-ts";
export default { root: ".", input: { path: "openapi.yaml" }, output: { path: "out" }, plugins: [pluginOas(), pluginTs()] };`,
    },
    events: "out/index",
  },
  oazapfts: {
    packages: ["oazapfts@7.5.0", "@oazapfts/runtime@1.2.0"],
    command: "oazapfts --allSchemas openapi.yaml out/api.ts",
    events: "out/api",
  },
  "rtk-query": {
    packages: ["@rtk-query/codegen-openapi@2.2.0", "@reduxjs/toolkit@2.11.2"],
    command: "rtk-query-codegen-openapi rtk.json",
    files: {
      "base.ts": `import { createApi, fetchBaseQuery } from "@reduxjs/toolkit/query";
export const base = createApi({ baseQuery: fetchBaseQuery(), endpoints: () => ({}) });`,
      "rtk.json": `{ "schemaFile": "openapi.yaml", "apiFile": "./base.ts", "apiImport": "base", "outputFile": "out/api.ts" }`,
    },
  },
  "ng-openapi-gen": {
    packages: ["ng-openapi-gen@1.1.0", "@angular/common@21.0.0", "@angular/core@21.0.0", "rxjs@7.8.2"],
    command: "ng-openapi-gen --input openapi.yaml --output out --ignoreUnusedModels false",
    events: "out/models",
  },
  "openapi-zod-client": {
    packages: ["openapi-zod-client@1.18.3", "@zodios/core@10.9.6", "zod@3.25.76", "axios@1.13.2"],
    command: "openapi-zod-client openapi.yaml -o out/api.ts --export-schemas",
    events: "out/api",
  },
  "openapi-typescript-codegen": {
    packages: ["openapi-typescript-codegen@0.31.0"],
    command: "openapi --input openapi.yaml --output out --useUnionTypes",
    events: "out/index",
  },
};

const COMPILE = `tsc --strict --noEmit --skipLibCheck --allowImportingTsExtensions --types node --experimentalDecorators \\
  --module esnext --moduleResolution bundler --target es2022 $(find . -name '*.ts')`;

/** Generates a client by each generator, compiles all, and reads the contract's example of each event with them. */
export async function useGenerators(): Promise<void> {
  const entries = Object.entries(GENERATORS);
  const packages = [...entries.flatMap(([, generator]) => generator.packages), "typescript@5.9.3"];
  const tools = await installTools("generators/npm", packages);
  const env = { PATH: `${join(tools, ".bin")}:${process.env.PATH}` };
  const clients = join(tools, "../clients");
  await rm(clients, { recursive: true, force: true });
  for (const [name, { command, files = {}, events }] of entries) {
    const folder = join(clients, name);
    await mkdir(join(folder, "out"), { recursive: true });
    await writeFile(join(folder, "openapi.yaml"), readGenerated("openapi.yaml"));
    for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
    await runShell(command, folder, env);
    if (events) await writeFile(join(folder, "program.ts"), toProgram(events, name === "openapi-zod-client"));
  }
  await runShell(COMPILE, clients, env);
  await runShell("node openapi-zod-client/program.ts", clients, env);
}

/** A program that reads the example of each event: by its type, or by its schema when it runs. */
function toProgram(module: string, bySchema: boolean): string {
  const { components } = readContract("openapi").document as {
    components: { examples: Record<string, { value: { type: string; data: object } }> };
  };
  const examples = Object.entries(components.examples).filter(([name]) => name.startsWith("Event"));
  const named = examples.map(([name, { value }]) => [`${name.slice(5)}Event`, value] as const);
  if (bySchema)
    return `import { schemas } from "./${module}.ts";
${named.map(([name, value]) => `schemas.${name}.parse(${JSON.stringify(value)});`).join("\n")}`;
  const cases = named.map(
    ([, { type, data }]) => `case "${type}": return event.data.${Object.keys(data)[0]};`,
  );
  return `import type { ${named.map(([name]) => name).join(", ")} } from "./${module}.ts";
type Event = ${named.map(([name]) => name).join(" | ")};
export const examples: Event[] = ${JSON.stringify(named.map(([, value]) => value))};
export function read(event: Event): string {
  switch (event.type) {
${cases.join("\n")}
  }
}`;
}
