import { describe, expect, test } from "vitest";
import { readConfig } from "../../../server/config/config.ts";
import { explainStartFailure } from "../../../server/process/start-failure.ts";
import { listenForSockets } from "../../helpers/network/local-server.ts";
import type { Settings } from "../../helpers/process.ts";
import { startTestServer } from "../../helpers/server.ts";

/** Why a server with these settings doesn't start, as its process would print it. */
async function explainRefusal(env: Settings): Promise<string> {
  const failure: unknown = await startTestServer({ env }).then(
    (server) => server.close().then(() => "it started"),
    (error: unknown) => error,
  );
  return explainStartFailure(failure, readConfig(env));
}

describe("a server that can't start", () => {
  test.each(["PORT", "METRICS_PORT", "PROBE_PORT"])("says that another process has %s", async (name) => {
    await using other = await listenForSockets((socket) => socket.end("no HTTP"));
    const port = `${other.port}`;

    const refused = await explainRefusal({ PORT: "0", [name]: port });

    expect(refused).toMatch(
      new RegExp(`^Port ${port} of 127.0.0.1 is taken by another process. Stop it, or`),
    );
    expect(refused).toContain(name);
  });

  test.each(["203.0.113.1", "no-such-host.invalid"])(
    "says which addresses this machine has when HOST is another (%s)",
    async (HOST) => {
      expect(await explainRefusal({ HOST, PORT: "0" })).toMatch(
        new RegExp(`^HOST=${HOST} is not an address of this machine. Use .*127.0.0.1`),
      );
    },
  );
});
