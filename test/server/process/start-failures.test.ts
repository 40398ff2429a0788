import { describe, expect, test } from "vitest";
import { readConfig } from "../../../server/config/config.ts";
import { readOwner } from "../../../server/process/owner.ts";
import { explainStartFailure } from "../../../server/process/start-failure.ts";
import { makeDataDir } from "../../helpers/databases.ts";
import { refundOf } from "../../helpers/factories.ts";
import { listenForSockets } from "../../helpers/network/local-server.ts";
import type { Settings } from "../../helpers/process.ts";
import { post, runServer, spawnServer, startTestServer } from "../../helpers/server.ts";

/** Why a server with these settings doesn't start, as its process would print it. */
async function explainRefusal(env: Settings): Promise<string> {
  const failure: unknown = await startTestServer({ env }).then(
    (server) => server.close().then(() => "it started"),
    (error: unknown) => error,
  );
  return explainStartFailure(failure, readConfig(env));
}

describe("a server that can't start", () => {
  test("names the sandbox that has its port or its folder, which goes on, and removes its note at its end", async () => {
    const dataDir = await makeDataDir();
    // Options come before the environment.
    const command = [process.execPath, "server/main.ts", "--port", "0", "--data-dir", dataDir];
    await using first = await spawnServer({ command, env: { PORT: "1", DATA_DIR: "/proc/nowhere" } });
    const { url, pid } = first;
    const { port: PORT } = new URL(url);

    const refused = [await explainRefusal({ PORT }), await explainRefusal({ PORT: "0", DATA_DIR: dataDir })];

    expect(refused).toEqual([
      `Port ${PORT} of 127.0.0.1 is taken by the sandbox at ${url}, process ${pid} (node server/main.ts 0 ${dataDir}). ` +
        "Stop it, or take a free port with --port 0 (PORT=0).",
      `The data folder ${dataDir} is in use by the sandbox at ${url} (process ${pid}). ` +
        "Use that one, stop it, or choose another folder with DATA_DIR.",
    ]);
    expect(await readOwner(dataDir)).toEqual({ pid, url });
    expect((await post(url, "/v1/refunds", refundOf("pay_settled"))).status).toBe(201);
    first.kill("SIGTERM");
    await first.exit;
    expect(await readOwner(dataDir)).toBeUndefined();
  });

  test.each(["METRICS_PORT", "PROBE_PORT"])(
    "names the process that has %s when that is no sandbox",
    async (name) => {
      await using other = await listenForSockets((socket) => socket.end("no HTTP"));
      const port = `${other.port}`;

      const refused = await explainRefusal({ [name]: port, PORT: "0", STOP_DELAY: "300" });

      expect(refused).toMatch(
        new RegExp(`^Port ${port} of 127.0.0.1 is taken by process ${process.pid} \\(`),
      );
      expect(refused.endsWith(`Stop it, or choose another port with ${name}.`)).toBe(true);
    },
  );

  test.each(["203.0.113.1", "no-such-host.invalid"])(
    "says which addresses this machine has when HOST is another (%s)",
    async (HOST) => {
      expect(await explainRefusal({ HOST, PORT: "0" })).toMatch(
        new RegExp(`^HOST=${HOST} is not an address of this machine. Use .*127.0.0.1`),
      );
    },
  );

  test.each([
    ["--port", "70000"],
    ["--seed", "2147483648"],
    ["--seed", "seven"],
    ["--tomorrow", "now"],
  ])("prints its usage for %s %s, and exits with 2", async (option, value) => {
    const command = [process.execPath, "server/main.ts", option, value];

    const { code, stdout, stderr } = await runServer({}, { command });

    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^error: (option '|too many arguments)/);
    expect(stderr).toContain("Usage: npm start -- [options]");
  });
});
