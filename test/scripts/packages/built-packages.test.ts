import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../../../scripts/shared/root.ts";
import { startProduction } from "../../helpers/deployment.ts";
import { BUILT_NAMES, type BuiltName, createPackedProject, inspect } from "../../helpers/packages.ts";
import { type Exit, runProgram, type Settings } from "../../helpers/process.ts";
import { post, spawnServer } from "../../helpers/server.ts";
import { folderOfTest, forSuite } from "../../helpers/suite.ts";

/** The largest allowed size of each tarball in bytes, about a tenth above the present size. */
const BUDGETS: Readonly<Record<BuiltName, number>> = {
  sandbox: 7_700_000,
  server: 6_100_000,
  conformance: 375_000,
  certify: 3_900_000,
};

/** Third-party code that is built into each package, so its licences file has to name it. Not a full list. */
const THIRD_PARTY: Readonly<Record<BuiltName, readonly string[]>> = {
  sandbox: ["busboy", "preact", "minisearch", "@redocly/cli", "@electric-sql/pglite-prepopulatedfs"],
  server: ["minisearch", "@redocly/cli"],
  conformance: [],
  certify: ["@electric-sql/pglite-prepopulatedfs"],
};

type Locked = Readonly<
  Record<string, { readonly version?: string; readonly integrity?: string; readonly optional?: boolean }>
>;

const packages = forSuite(() => createPackedProject(BUILT_NAMES));

const run = (name: BuiltName, ...args: string[]) => runWith({}, name, ...args);

async function runWith(settings: Settings, name: BuiltName, ...args: string[]): Promise<Exit> {
  return runProgram([...(await packages.command(name)), ...args], { env: settings });
}

describe.each(BUILT_NAMES)("the package %s", (name) => {
  test("is found without fault by publint and attw, and is within its budget", async () => {
    const data = await packages.tarball(name);

    const { messages, problems, entrypoints } = await inspect(data);
    expect({ messages, problems }).toEqual({ messages: [], problems: [] });
    expect(entrypoints !== undefined).toBe(name !== "server" && name !== "certify");
    expect(data.length).toBeLessThan(BUDGETS[name]);
  });

  test("holds JavaScript, its licence and its version, and names no folder of this machine", async () => {
    const folder = packages.packageFolder(name);
    const files = await readdir(folder, { recursive: true });
    const read = (file: string) => readFile(join(folder, file), "utf8");

    expect(files.filter((file) => /(?<!\.d)\.tsx?$/.test(file))).toEqual([]);
    const texts = files.filter((file) => /\.(js|map|ts|json)$/.test(file));
    const naming = await Promise.all(texts.map(async (file) => (await read(file)).includes(ROOT) && file));
    expect(naming.filter(Boolean)).toEqual([]);
    expect(files).toContain("LICENSE");
    const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
    expect(JSON.parse(await read("package.json")).version).toBe(version);
  });

  test("has the licence of everything of others that it ships", async () => {
    const folder = packages.packageFolder(name);
    const files = (await readdir(folder, { recursive: true })).filter((file) =>
      /\/LICENSES\.txt$/.test(file),
    );
    const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
    const entries = texts.flatMap((text) => text.split(`\n${"-".repeat(80)}\n\n`));

    for (const entry of entries) expect(entry).toMatch(/^\S+ \d+\.\d+\.\d+ \([A-Z][\w.-]+\)\n\n[\s\S]{120}/);
    const named = new Set(entries.map((entry) => entry.split(" ")[0]));
    expect(THIRD_PARTY[name].filter((other) => !named.has(other))).toEqual([]);
    expect(named.size === 0).toBe(THIRD_PARTY[name].length === 0);
  });
});

test("the server's lockfile has what this project is tested with, and the Containerfile installs all of that and no Node", {
  timeout: 60_000,
}, async () => {
  const folder = join(await folderOfTest(), "server");
  await cp(packages.packageFolder("server"), folder, { recursive: true });
  const read = async (path: string) => JSON.parse(await readFile(path, "utf8"));
  const { "": own, ...pinned } = (await read(join(folder, "npm-shrinkwrap.json"))).packages as Locked;
  const { packages: ours } = (await read(join(ROOT, "package-lock.json"))) as { packages: Locked };
  const [, install = ""] =
    /^RUN (npm \S+ .*?) &&/m.exec(await readFile(join(folder, "run/Containerfile"), "utf8")) ?? [];

  // npm's cache has what this project is installed from.
  const installed = await runProgram([...install.split(" "), "--prefer-offline"], { cwd: folder });

  expect(installed).toMatchObject({ code: 0 });
  expect(
    await runProgram([process.execPath, "dist/server/cli.js", "admin", "help"], { cwd: folder }),
  ).toMatchObject({ code: 0 });
  const { packages: present } = (await read(join(folder, "node_modules/.package-lock.json"))) as {
    packages: Locked;
  };
  const ofAnySystem = Object.entries(pinned).filter(([, { optional }]) => !optional);
  expect(Object.entries(pinned)).toEqual(expect.arrayContaining(Object.entries(present)));
  expect(Object.entries(present)).toEqual(expect.arrayContaining(ofAnySystem));
  expect(own).toMatchObject({ dependencies: (await read(join(folder, "package.json"))).dependencies });
  for (const [path, { version, integrity }] of Object.entries(pinned)) {
    expect([path, version, integrity]).toEqual([path, ours[path]?.version, ours[path]?.integrity]);
    expect(integrity).toMatch(/^sha512-/);
  }
  expect(Object.keys(pinned).filter((path) => /node_modules\/node-/.test(path))).toEqual([]);
});

/** What a CI job sets for the merchant's own program; each would end the start, or show in the log. */
const OF_OTHER_PROGRAMS = {
  ...{
    DATABASE_URL: "mysql://shop",
    ENCRYPTION_KEY: "short",
    PORT: "http",
    HOST: "shop.example",
    MODE: "production",
  },
  ...{
    LOG_LEVEL: "verbose",
    LOG_FORMAT: "pretty",
    RATE_LIMIT: "none",
    DATA_DIR: "/proc/shop",
    SERVE_DOCS: "no",
  },
};

// Each compiles, or starts programs that load everything anew.
describe("the commands of the packages", { timeout: 60_000 }, () => {
  test("start a sandbox that takes refunds, serves docs and console, passes the kit, and stops", async () => {
    await using sandbox = await spawnServer({
      command: [...(await packages.command("sandbox")), "--port", "0"],
      env: { ...OF_OTHER_PROGRAMS, REFUNDS_SANDBOX_RATE_LIMIT: "1000" },
    });
    const refund = { paymentId: "pay_recent", amount: { currency: "USD", value: 1 }, requestKey: "packed" };

    expect(await post(sandbox.url, "/v1/refunds", refund)).toMatchObject({ status: 201 });
    for (const path of ["/docs/", "/console", "/openapi.json", "/openapi-3.0.yaml"])
      expect([path, (await fetch(sandbox.url + path)).status]).toEqual([path, 200]);
    const args = ["--url", sandbox.url, "--token", "sandbox_acme", "--only", "access"];
    const { code, stdout } = await run("conformance", ...args);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/[1-9]\d* passed, 0 failed/)]);
    const unknown = await run("conformance", "--no-such-option");
    expect(unknown).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("npx --no-install @refund-contract/"),
    });
    sandbox.kill("SIGTERM");
    expect(await sandbox.exit).toMatchObject({ code: 0, stderr: "" });
    for (const [name, value] of [
      ["RATE_LIMIT", "none"],
      ["PROT", "1"],
    ] as const) {
      const settings = { ...OF_OTHER_PROGRAMS, [`REFUNDS_SANDBOX_${name}`]: value };
      const { code, stderr } = await runWith(settings, "sandbox");
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(new RegExp(`^REFUNDS_SANDBOX_${name} (must|is no).*\n$`)),
      ]);
    }
  });

  test("serve on PostgreSQL after a migration, take a payment and a refund, and stop", async () => {
    await using production = await startProduction();
    const { database, issuer, env } = production;
    const settings = { ...env, DATABASE_URL: database.url };

    expect(await runWith(settings, "server", "migrate")).toMatchObject({ code: 0 });
    const lines = join(packages.folder, "payments.jsonl");
    const payment = { merchant: "acme", paymentId: "pay_1042" };
    const amount = { currency: "USD", value: 100 };
    const settled = { op: "settle", ...payment, settledAt: "2026-01-05T15:30:00Z" };
    await writeFile(
      lines,
      `${JSON.stringify({ op: "put", ...payment, amount })}\n${JSON.stringify(settled)}\n`,
    );
    expect(await runWith(settings, "server", "admin", "payments", lines)).toMatchObject({ code: 0 });
    await using server = await spawnServer({ command: await packages.command("server"), env: settings });
    const refund = { paymentId: "pay_1042", amount, requestKey: "packed" };
    const token = await issuer.token({ merchant_id: "acme" });
    expect(await post(server.url, "/v1/refunds", refund, { token })).toMatchObject({
      status: 201,
      body: { paymentStatus: "AUTHORIZED" },
    });
    server.kill("SIGTERM");
    const { code, stdout, stderr } = await server.exit;
    expect([code, stderr]).toEqual([0, ""]);
    // Logs alone, without a banner: each line is JSON.
    for (const line of stdout.trim().split("\n")) expect(JSON.parse(line)).toHaveProperty("msg");
  });

  test("are there from a program as well, with types, and read none of its environment", async () => {
    const settings = await readFile(join(ROOT, "server/operators/deployment/settings.env"), "utf8");
    const names = [...settings.matchAll(/^#?([A-Z][A-Z_]+)=/gm)].map(([, name]) => name);
    // Packages that it uses read some of their own, such as NODE_ENV.
    const program = `const read = new Set<string>();
      process.env = new Proxy(process.env, { get: (env, name: string) => (read.add(name), env[name]) });
      import { startSandbox } from "@refund-contract/sandbox";
      import { conform } from "@refund-contract/conformance";
      const sandbox = await startSandbox();
      const { report } = await conform({ url: sandbox.url + "/", token: sandbox.accessToken, only: ["access"], require: "all" });
      const count: number = report.failed;
      console.log(count > 0, report.checks.length > 0, (await sandbox.clock.read()).now.length);
      await sandbox.close();
      console.log([...read].filter((name) => ${JSON.stringify(names)}.includes(name) || name.startsWith("REFUNDS_")).join());`;
    await packages.write("program.js", stripTypeScriptTypes(program));
    await packages.write("program.ts", program);

    expect(await packages.run("node", "program.js")).toBe("true true 24\n\n");
    expect(await packages.compile(["program.ts"], { module: "nodenext", types: ["node"] })).toBe("");
  });
});
