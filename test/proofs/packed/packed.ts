import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defineProof } from "../../../scripts/command/command.ts";
import { withTempDir } from "../../../scripts/command/files.ts";
import { ROOT } from "../../../scripts/command/root.ts";
import { run } from "../../../scripts/packages/run-program.ts";
import { READER_ENV, runProgram, runShell, startServerProcess } from "../../helpers/process.ts";
import { check, endChecks, expectSame } from "../checks.ts";
import { checkMerchantCi } from "./merchant-ci.ts";
import { type Registry, startRegistry } from "./registry.ts";
import { copyProject } from "./releases.ts";
import { installRuntime, NODES, OLDEST_NODE, TOO_OLD } from "./runtimes.ts";

defineProof("packed").parse();

/** The most disk space that an installed sandbox may take, in MB as `du -sm` counts them. */
const MAX_INSTALLED_MB = 60;

/** The command of the installed sandbox. */
const PROGRAM = "node_modules/@refund-contract/sandbox/dist/start.js";

const START = `import { startSandbox } from "@refund-contract/sandbox";
const start = performance.now();
const sandbox = await startSandbox();
console.log("ready after " + Math.round(performance.now() - start) + " ms");
await sandbox.clock.advance({ by: "P30D" });
await sandbox.close();
`;

await withTempDir(main);
endChecks();

async function main(parent: string): Promise<void> {
  const copy = await copyProject(parent);
  await using registry = await startRegistry(parent);
  let version = "";
  await check("a release is made and published", async () => {
    const tarballs = await copy.release();
    await publish(tarballs, registry, copy.folder);
    version = await versionOf(copy.folder);
    return `${version}, ${tarballs.length} packages`;
  });
  const folder = await openFolder(parent, "merchant", registry.npmrc);
  await check("npx starts the sandbox, which refunds by the curl line that it prints", async () => {
    const command = ["npx", "--yes", "@refund-contract/sandbox", "--port", "0"];
    await using program = await startServerProcess({ command, cwd: folder, env: READER_ENV });
    const [curl = ""] = /curl .*$/m.exec(program.welcome) ?? [];
    expectSame("the refund's status", JSON.parse(await runShell(curl, folder)).paymentStatus, "AUTHORIZED");
    await program.stop();
  });
  await check("the sandbox is installed", async () => {
    await run("npm", ["install", "@refund-contract/sandbox"], folder);
    // As `du` counts it: in whole blocks, folders included.
    const size = Number.parseInt(await run("du", ["-sm", "node_modules"], folder), 10);
    if (size > MAX_INSTALLED_MB) throw new Error(`it takes ${size} MB, more than ${MAX_INSTALLED_MB}`);
    return `${size} MB on the disk`;
  });
  await check("the guide's test of Vitest passes", async () => {
    await cp(join(ROOT, "docs/examples/refunds.vitest.test.mjs"), join(folder, "refunds.vitest.test.mjs"));
    await run("npm", ["install", "@refund-contract/client"], folder);
    const { devDependencies } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
    await run("npm", ["install", `vitest@${devDependencies.vitest}`], folder);
    await run("npx", ["vitest", "run", "refunds.vitest.test.mjs"], folder);
  });
  const implementer = await openFolder(parent, "implementer", registry.npmrc);
  await check("the conformance kit passes the sandbox", async () => {
    const command = [process.execPath, PROGRAM, "--port", "0"];
    await using program = await startServerProcess({ command, cwd: folder, env: READER_ENV });
    const args = ["--url", program.url, "--token", "sandbox_acme", "--only", "access,key"];
    await run("npx", ["--yes", "@refund-contract/conformance", ...args], implementer);
    await program.stop();
  });
  await checkMerchantCi(await openFolder(parent, "shop", registry.npmrc));
  for (const runtime of [OLDEST_NODE, ...NODES.slice(1)]) {
    await check(`the sandbox starts on ${runtime.package}`, async () => {
      const node = join(await installRuntime(runtime), runtime.package.split("@")[0] ?? "", "bin/node");
      await writeFile(join(folder, "start.js"), START);
      return run(node, ["start.js"], folder);
    });
  }
  for (const runtime of [NODES[0], TOO_OLD]) {
    await check(`${runtime.package} is refused in one line`, async () => {
      const node = join(await installRuntime(runtime), runtime.package.split("@")[0] ?? "", "bin/node");
      const needed =
        /^(.*Error: )?@refund-contract\/sandbox needs Node 22\.13 or newer, and this is Node \S+: install.*$/m;
      for (const program of [["start.js"], [PROGRAM]]) {
        const { code, stderr } = await runProgram([node, ...program], { cwd: folder, env: READER_ENV });
        if (code !== 1 || !needed.test(stderr)) throw new Error(`${program} ended with ${code}: ${stderr}`);
      }
    });
  }
  await check("the next release is an upgrade", async () => {
    await copy.change();
    await publish(await copy.release(), registry, copy.folder);
    const next = await versionOf(copy.folder);
    await run("npm", ["install", "--no-prefer-offline", "@refund-contract/sandbox@latest"], folder);
    expectSame(
      "the installed version",
      await versionOf(join(folder, "node_modules/@refund-contract/sandbox")),
      next,
    );
    if (next === version) throw new Error(`the next release is ${next} again`);
    await run(process.execPath, ["start.js"], folder);
    return `${version} to ${next}`;
  });
}

async function publish(tarballs: readonly string[], { npmrc }: Registry, folder: string): Promise<void> {
  await writeFile(join(folder, "dist/packages/.npmrc"), npmrc);
  for (const tarball of tarballs)
    await run("npm", ["publish", tarball, "--userconfig", join(folder, "dist/packages/.npmrc")], folder);
}

async function versionOf(folder: string): Promise<string> {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8")).version;
}

/** Creates an empty folder that uses the registry. */
async function openFolder(parent: string, name: string, npmrc: string): Promise<string> {
  const folder = join(parent, name);
  await mkdir(folder);
  await writeFile(join(folder, ".npmrc"), npmrc);
  await writeFile(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  return folder;
}
