import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../../../scripts/packages/run-program.ts";
import { installTools } from "../../helpers/process.ts";

/** A merchant's tool that uses the package in a project. The function rejects when the tool fails. */
export type Toolchain = {
  readonly name: string;
  use(folder: string): Promise<void>;
};

/** From the oldest supported version to the newest. */
const COMPILERS = ["5.4.5", "5.9.3", "7.0.2"];
const RESOLUTIONS = [
  { module: "node16", moduleResolution: "node16" },
  { module: "nodenext", moduleResolution: "nodenext" },
  { module: "esnext", moduleResolution: "bundler" },
];

/** As strict as can be; the declarations of the package and of its dependencies are checked as well. */
const STRICT = {
  ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true },
  ...{ noPropertyAccessFromIndexSignature: true, verbatimModuleSyntax: true, skipLibCheck: false },
  ...{ noEmit: true, target: "es2022", lib: ["es2022", "dom", "dom.iterable"], types: [] },
};

/** Each compiler with each way to find a package's types. */
const compilers = COMPILERS.map((version) => ({
  name: `TypeScript ${version}`,
  async use(folder: string) {
    const tools = await installTools(`toolchains/typescript-${version}`, [`typescript@${version}`]);
    for (const resolution of RESOLUTIONS) {
      const compilerOptions = { ...STRICT, ...resolution };
      const file = join(folder, `tsconfig.${resolution.moduleResolution}.json`);
      await writeFile(file, JSON.stringify({ compilerOptions, files: ["program.ts"] }));
      await run(process.execPath, [join(tools, "typescript/bin/tsc"), "--project", file], folder);
    }
  },
}));

const ENTRY = "browser.js";

type Bundle = (tools: string, folder: string, out: string) => Promise<unknown>;

/** Bundles the program for a browser, without any module of Node. */
function bundler(name: string, packages: readonly string[], bundle: Bundle): Toolchain {
  return {
    name: packages[0] ?? name,
    async use(folder) {
      const tools = await installTools(`toolchains/${name}`, packages);
      const out = join(folder, `bundled-by-${name}`);
      await writeFile(
        join(folder, ENTRY),
        'import { useClient } from "./program.js";\nglobalThis.useClient = useClient;\n',
      );
      await writeFile(join(folder, "index.html"), `<script type="module" src="./${ENTRY}"></script>`);
      await bundle(tools, folder, out);
      const files = (await readdir(out, { recursive: true })).filter((file) => file.endsWith(".js"));
      const text = (await Promise.all(files.map((file) => readFile(join(out, file), "utf8")))).join("");
      if (!text.includes("/v1/refunds")) throw new Error(`${name} left the client out`);
      if (/["'`]node:/.test(text)) throw new Error(`${name}'s bundle needs Node`);
    },
  };
}

const bundlers = [
  bundler("vite", ["vite@8.3.8"], (tools, folder, out) =>
    run(process.execPath, [join(tools, "vite/bin/vite.js"), "build", "--outDir", out], folder),
  ),
  bundler("esbuild", ["esbuild@0.28.2"], (tools, folder, out) =>
    run(join(tools, ".bin/esbuild"), [ENTRY, "--bundle", "--platform=browser", `--outdir=${out}`], folder),
  ),
  bundler("webpack", ["webpack@5.112.2", "webpack-cli@6.0.1"], (tools, folder, out) => {
    const program = join(tools, "webpack-cli/bin/cli.js");
    const args = ["build", `./${ENTRY}`, "--mode", "production", "--target", "web", "--output-path", out];
    return run(process.execPath, [program, ...args], folder);
  }),
];

export const TOOLCHAINS: readonly Toolchain[] = [...compilers, ...bundlers];
