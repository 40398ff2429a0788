import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { readOwner } from "../../../server/process/owner.ts";
import { makeDataDir } from "../../helpers/databases.ts";
import { runServer, spawnServer } from "../../helpers/server.ts";

describe("a server that can't start", () => {
  test("names the sandbox that has its port, and how to take another", async () => {
    await using first = await spawnServer();
    const { port } = new URL(first.url);

    const refused = await runServer({ PORT: port, DATA_DIR: ":memory:" }, { limitMs: 100_000 });

    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toBe(
      `Port ${port} of 127.0.0.1 is taken by the sandbox at ${first.url}, process ${first.pid} (node server/main.ts). ` +
        "Stop it, or take a free port with --port 0 (PORT=0).\n",
    );
  });

  test.each(["METRICS_PORT", "PROBE_PORT"])(
    "names the process that has %s when that is no sandbox",
    async (name) => {
      const other = createServer((socket) => socket.end("no HTTP")).listen(0, "127.0.0.1");
      await once(other, "listening");
      const { port } = other.address() as AddressInfo;
      try {
        const { stderr } = await runServer({ [name]: String(port), PORT: "0", DATA_DIR: ":memory:" });

        expect(stderr).toMatch(
          new RegExp(`^Port ${port} of 127.0.0.1 is taken by process ${process.pid} \\(`),
        );
        expect(stderr.endsWith(`Stop it, or choose another port with ${name}.\n`)).toBe(true);
      } finally {
        other.close();
      }
    },
  );

  test("names the address of the one that has its folder, which removes its note at its end", async () => {
    const dataDir = await makeDataDir();
    await using first = await spawnServer({ dataDir });

    const { code, stderr } = await runServer({ PORT: "0", DATA_DIR: dataDir }, { limitMs: 100_000 });

    expect([code, stderr]).toEqual([
      1,
      `The data folder ${dataDir} is in use by the sandbox at ${first.url} (process ${first.pid}). Use that one, stop it, or choose another folder with DATA_DIR.\n`,
    ]);
    expect(await readOwner(dataDir)).toEqual({ pid: first.pid, url: first.url });
    first.kill("SIGTERM");
    await first.exit;
    expect(await readOwner(dataDir)).toBeUndefined();
  });

  test.each(["203.0.113.1", "no-such-host.invalid"])(
    "says which addresses this machine has when HOST is another (%s)",
    async (HOST) => {
      const { code, stderr } = await runServer(
        { PORT: "0", HOST, DATA_DIR: ":memory:" },
        { limitMs: 100_000 },
      );

      expect(code).toBe(1);
      expect(stderr).toMatch(new RegExp(`^HOST=${HOST} is not an address of this machine. Use .*127.0.0.1`));
    },
  );

  test.each([
    ["an unknown option", ["--no-such-option"]],
    ["an unknown word", ["now"]],
    ["a port that is none", ["--port", "70000"]],
    ["a missing value", ["--data-dir"]],
  ])("prints its usage for %s, and exits with 2", async (_, args) => {
    const command = [process.execPath, "server/main.ts", ...args];

    const { code, stdout, stderr } = await runServer({}, { command });

    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(args[0]);
    expect(stderr).toContain("Usage: npm start -- [options]");
  });

  test("takes its options before the environment", async () => {
    const command = [process.execPath, "server/main.ts", "--port", "0", "--data-dir", ":memory:"];
    await using server = await spawnServer({ command, env: { PORT: "1", DATA_DIR: "/proc/nowhere" } });

    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });
});
