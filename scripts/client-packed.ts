import { misused, readCommandLine } from "./lib/command-line.ts";
import { withTempDir } from "./lib/files.ts";
import { pack } from "./lib/packed/pack.ts";
import { EXPECTED } from "./lib/packed/program.ts";
import { openJavaScriptProject, openTypeScriptProject } from "./lib/packed/projects.ts";
import { installRuntime, NODES, OTHERS, type Runtime } from "./lib/packed/runtimes.ts";
import { secondsSince } from "./lib/redocly.ts";
import { withSandboxProcess } from "./lib/sandbox-process.ts";

/*
 * Installs the client from its tarball into empty projects, as a merchant would, and uses it there against a sandbox: on
 * each Node that it is for, or with --all on other runtimes as well. Names choose among all of them. npm fetches what is not
 * there: the package's own dependencies, TypeScript and the runtimes.
 */
const all = [...NODES, ...OTHERS];
const USAGE = `npm run client:packed -- [--all] [name…]

  --all  other runtimes as well as each Node
  name   ${all.map(({ name }) => name).join(", ")}
`;

const { values, positionals } = readCommandLine(USAGE, {
  options: { all: { type: "boolean", default: false } },
  allowPositionals: true,
});
const unknown = positionals.filter((name) => !all.some((runtime) => runtime.name === name));
if (unknown.length > 0) misused(`There is no ${unknown.join(", ")}.`, USAGE);
const byDefault = values.all ? all : NODES;
await main(positionals.length === 0 ? byDefault : all.filter(({ name }) => positionals.includes(name)));

async function main(runtimes: readonly Runtime[]): Promise<void> {
  const start = performance.now();
  const failed = await withTempDir(async (folder) => {
    const tarball = await pack(folder);
    const projects = [
      await openJavaScriptProject(folder, tarball),
      await openTypeScriptProject(folder, tarball),
    ];
    console.log(`packed, installed and compiled (${secondsSince(start)})`);
    return withSandboxProcess(async ({ url }) => {
      let failures = 0;
      for (const runtime of runtimes) {
        const tools = await installRuntime(runtime);
        for (const project of projects) {
          const printed = await runtime.use(tools, project.folder, url).catch(String);
          const passed = printed === EXPECTED;
          if (!passed) failures += 1;
          console.log(
            `${passed ? "✓" : "✗"} ${runtime.package}, ${project.name}${passed ? "" : `: ${printed}`}`,
          );
        }
      }
      return failures;
    });
  });
  console.log(`${runtimes.length * 2 - failed} passed, ${failed} failed (${secondsSince(start)})`);
  if (failed > 0) process.exitCode = 1;
}
