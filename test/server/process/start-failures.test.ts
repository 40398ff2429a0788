import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { readConfig } from "../../../server/config/config.ts";
import { readOwner } from "../../../server/process/owner.ts";
import { explainStartFailure } from "../../../server/process/start-failure.ts";
import { makeDataDir } from "../../helpers/databases.ts";
import { refundOf } from "../../helpers/factories.ts";
import { post, runServer, spawnServer, startTestServer } from "../../helpers/server.ts";

describe("a server that can't start", () => {
  test("names the sandbox that has its port, and how to take another", async () => {
    // Options come before the environment.
    const command = [process.execPath, "server/main.ts", "--port", "0", "--data-dir", ":memory:"];
    const env = { PORT: "1", DATA_DIR: "/proc/nowhere" };
    await using first = await spawnServer({ command, env });
    const { port } = new URL(first.url);

    const refused = await runServer({ PORT: port, DATA_DIR: ":memory:" }, { limitMs: 100_000 });

    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toBe(
      `Port ${port} of 127.0.0.1 is taken by the sandbox at ${first.url}, process ${first.pid} (node server/main.ts 0 :memory:). ` +
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

  test("names the address of the one that has its folder, which goes on, and removes its note at its end", async () => {
    const dataDir = await makeDataDir();
    await using first = await spawnServer({ dataDir });

    const { code, stderr } = await runServer({ PORT: "0", DATA_DIR: dataDir }, { limitMs: 100_000 });

    expect([code, stderr]).toEqual([
      1,
      `The data folder ${dataDir} is in use by the sandbox at ${first.url} (process ${first.pid}). Use that one, stop it, or choose another folder with DATA_DIR.\n`,
    ]);
    expect(await readOwner(dataDir)).toEqual({ pid: first.pid, url: first.url });
    expect((await post(first.url, "/v1/refunds", refundOf("pay_settled"))).status).toBe(201);
    first.kill("SIGTERM");
    await first.exit;
    expect(await readOwner(dataDir)).toBeUndefined();
  });

  test.each(["203.0.113.1", "no-such-host.invalid"])(
    "says which addresses this machine has when HOST is another (%s)",
    async (HOST) => {
      const failure: unknown = await startTestServer({ env: { HOST } }).catch((error: unknown) => error);

      const explained = await explainStartFailure(failure, readConfig({ HOST }));

      expect(explained).toMatch(
        new RegExp(`^HOST=${HOST} is not an address of this machine. Use .*127.0.0.1`),
      );
    },
  );

  test("prints its usage for a port that is none, and exits with 2", async () => {
    const command = [process.execPath, "server/main.ts", "--port", "70000"];

    const { code, stdout, stderr } = await runServer({}, { command });

    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("--port");
    expect(stderr).toContain("Usage: npm start -- [options]");
  });
});
