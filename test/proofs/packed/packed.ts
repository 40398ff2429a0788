/** `npm run proof -- packed`: installs the packed packages in empty folders, and uses them there. */
import { mkdir, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { packPackages } from "../../../scripts/packages/pack.ts";
import { defineProof } from "../../../scripts/shared/define-command.ts";
import { withTempDir } from "../../../scripts/shared/files.ts";
import { run } from "../../../scripts/shared/run-program.ts";
import { READER_ENV, runProgram, runShell, startServerProcess } from "../../helpers/process.ts";
import { check, endChecks, expectSame } from "../check-runner.ts";
import { EXPECTED, MAIN, PROGRAM } from "./client-program.ts";
import { checkMerchantCi } from "./merchant-ci.ts";
import { NODES, OLDEST_NODE, TOO_OLD } from "./node-versions.ts";
import { TOOLCHAINS } from "./toolchains.ts";

/* npm downloads what is missing: the dependencies of the packages, compilers, bundlers and each Node. */
defineProof("packed").parse();

/** The most disk space that an installed sandbox may take, in MB as `du -sm` counts them. */
const MAX_INSTALLED_MB = 60;

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
  const tarballs = await packPackages(["client", "sandbox", "conformance"], parent);
  const [client = "", sandbox = "", conformance = ""] = tarballs.map(({ file }) => file);
  const merchant = await openFolder(parent, "merchant");
  const startCommand = {
    command: ["npx", "--yes", `file:${sandbox}`, "--port", "0"],
    cwd: merchant,
    env: READER_ENV,
  };
  await check("npx starts the sandbox, which refunds by the curl line that it prints", async () => {
    await using program = await startServerProcess(startCommand);
    const [curl = ""] = /curl .*$/m.exec(program.welcome) ?? [];
    expectSame("the refund's status", JSON.parse(await runShell(curl, merchant)).paymentStatus, "AUTHORIZED");
    await program.stop();
  });
  await check("the sandbox is installed", async () => {
    await install(merchant, sandbox);
    await runShell("npx --no-install @refund-contract/sandbox --help | grep -e --data-dir", merchant);
    // As `du` counts it: in whole blocks, folders included.
    const size = Number.parseInt(await run("du", ["-sm", "node_modules"], merchant), 10);
    if (size > MAX_INSTALLED_MB) throw new Error(`it takes ${size} MB, more than ${MAX_INSTALLED_MB}`);
    return `${size} MB on the disk`;
  });
  await check("the client is installed beside it", () => install(merchant, client));
  for (const toolchain of TOOLCHAINS) await check(toolchain.name, () => toolchain.use(merchant));
  await useClient(merchant);
  await check("the conformance kit passes the sandbox", async () => {
    await using program = await startServerProcess(startCommand);
    const args = ["--url", program.url, "--token", "sandbox_acme", "--only", "access,key"];
    await run("npx", ["--yes", `file:${conformance}`, ...args], await openFolder(parent, "implementer"));
    await program.stop();
  });
  await useSandbox(merchant);
  await checkMerchantCi(await openFolder(parent, "shop"), { client, sandbox });
}

/** A folder in which packages can be installed, with a program that uses the client. */
async function openFolder(parent: string, name: string): Promise<string> {
  const folder = join(parent, name);
  await mkdir(folder);
  const manifest = { name, version: "1.0.0", private: true, type: "module" };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
  await writeFile(join(folder, "program.ts"), PROGRAM);
  await writeFile(join(folder, "program.js"), stripTypeScriptTypes(PROGRAM));
  await writeFile(join(folder, "main.js"), MAIN);
  await writeFile(join(folder, "start.js"), START);
  return folder;
}

async function install(folder: string, ...packages: readonly string[]): Promise<void> {
  await run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", ...packages], folder);
}

/** The client on each Node. */
async function useClient(folder: string): Promise<void> {
  await using sandbox = await startServerProcess();
  for (const { version, program } of NODES)
    await check(`the client runs on Node ${version}`, async () =>
      expectSame("what it prints", await run(await program(), ["main.js", sandbox.url], folder), EXPECTED),
    );
}

/** The sandbox on each Node: those that it supports, and those that it refuses. */
async function useSandbox(folder: string): Promise<void> {
  const [oldNode, ...nodes] = NODES;
  for (const { version, program } of [OLDEST_NODE, ...nodes])
    await check(`the sandbox starts on Node ${version}`, async () =>
      run(await program(), ["start.js"], folder),
    );
  for (const { version, program } of [oldNode, TOO_OLD]) {
    await check(`the sandbox refuses Node ${version} in one line`, async () => {
      const needed =
        /^(.*Error: )?@refund-contract\/sandbox needs Node 22\.13 or newer, and this is Node \S+: install.*$/m;
      for (const file of ["start.js", "node_modules/@refund-contract/sandbox/dist/start.js"]) {
        const command = [await program(), file];
        const { code, stderr } = await runProgram(command, { cwd: folder, env: READER_ENV });
        if (code !== 1 || !needed.test(stderr)) throw new Error(`${file} ended with ${code}: ${stderr}`);
      }
    });
  }
}
