import { join } from "node:path";
import { Argument } from "@commander-js/extra-typings";
import { defineProof } from "../../../scripts/command/command.ts";
import { withTempDir } from "../../../scripts/command/files.ts";
import { packPackages } from "../../../scripts/packages/pack.ts";
import { startServerProcess } from "../../helpers/process.ts";
import { check, endChecks, expectSame } from "../checks.ts";
import { EXPECTED } from "./program.ts";
import { openProject } from "./projects.ts";
import { installRuntime, NODES, OTHERS, type Runtime } from "./runtimes.ts";
import { TOOLCHAINS } from "./toolchains.ts";

/* npm downloads what is missing: the dependencies of the package, TypeScript and the runtimes. */
const all = [...NODES, ...OTHERS];
const command = defineProof("client")
  .option("--all", "other runtimes as well as each Node")
  .addArgument(new Argument("[name...]", "some of all runtimes").choices(all.map(({ name }) => name)))
  .parse();
const [names] = command.processedArgs;
const byDefault = command.opts().all ? all : NODES;
await main(names.length === 0 ? byDefault : all.filter(({ name }) => names.includes(name)));

async function main(runtimes: readonly Runtime[]): Promise<void> {
  await withTempDir(async (folder) => {
    const tarballs = await packPackages(["client", "sandbox"], folder);
    const project = await openProject(
      join(folder, "merchant"),
      tarballs.map(({ file }) => file),
    );
    for (const toolchain of TOOLCHAINS) await check(toolchain.name, () => toolchain.use(project));
    await using sandbox = await startServerProcess();
    for (const runtime of runtimes) {
      const tools = await installRuntime(runtime);
      await check(runtime.package, async () =>
        expectSame("what it prints", await runtime.use(tools, project, sandbox.url), EXPECTED),
      );
    }
  });
  endChecks();
}
