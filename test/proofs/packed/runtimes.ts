import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { run } from "../../../scripts/packages/run-program.ts";
import { installTools } from "../../helpers/process.ts";

/** A JavaScript runtime from npm. */
export type Runtime = {
  readonly name: string;
  /** Its name and exact version. */
  readonly package: string;
  /** Runs the program of a project there with the sandbox's address, and resolves with its output. */
  use(tools: string, project: string, url: string): Promise<string>;
};

/** A Node, whose program can also be run by itself. */
type Node = Runtime & { program(): Promise<string> };

const node = (version: string): Node => {
  const name = `node-linux-${process.arch}`;
  const runtime: Node = {
    name: `node-${version.split(".", 2).join(".")}`,
    package: `${name}@${version}`,
    program: async () => join(await installRuntime(runtime), name, "bin/node"),
    use: (tools, project, url) => run(join(tools, name, "bin/node"), ["main.js", url], project),
  };
  return runtime;
};

const deno: Runtime = {
  name: "deno",
  package: "deno@2.9.6",
  use: (tools, project, url) =>
    run(join(tools, ".bin/deno"), ["run", "-A", "--node-modules-dir=manual", "main.js", url], project),
};

const bun: Runtime = {
  name: "bun",
  package: "bun@1.4.5",
  use: (tools, project, url) => run(join(tools, ".bin/bun"), ["run", "main.js", url], project),
};

/** A worker has no files, so the program and its packages are bundled into one module. */
const WORKER = `import { useClient } from "./program.js";
export default { fetch: async (request, { url }) => new Response((await useClient(url)).join(" ")) };
`;

const HOST = `import { Miniflare } from "miniflare";
const [script, url] = process.argv.slice(2);
const host = new Miniflare({ modules: true, scriptPath: script, compatibilityDate: "2026-07-01", bindings: { url } });
console.log(await (await host.dispatchFetch("http://worker/")).text());
await host.dispose();
`;

const workerd: Runtime = {
  name: "workerd",
  package: "miniflare@4.20260730.0",
  async use(tools, project, url) {
    const script = join(project, "bundled-worker.js");
    await writeFile(join(project, "worker.js"), WORKER);
    const bundle = await rolldown({ input: join(project, "worker.js"), cwd: project, platform: "browser" });
    await bundle.write({ file: script, format: "esm" });
    const host = join(tools, "../host.mjs");
    await writeFile(host, HOST);
    return run(process.execPath, [host, script, url], project);
  },
};

export const NODES: readonly [Node, ...Node[]] = [node("20.20.2"), node("22.23.3"), node("24.21.0")];
/** The oldest Node that the packages other than the client support. */
export const OLDEST_NODE = node("22.13.1");
/** The last one that the other packages refuse. */
export const TOO_OLD = node("22.12.0");
export const OTHERS: readonly Runtime[] = [deno, bun, workerd];

/** Installs the runtime apart from everything else, unless it is there. Resolves with the folder of its packages. */
export function installRuntime(runtime: Runtime): Promise<string> {
  return installTools(`runtimes/${runtime.name}`, [runtime.package]);
}
