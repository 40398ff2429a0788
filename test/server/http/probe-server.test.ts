import { spawnSync } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { startProbeServer } from "../../../server/http/probe-server.ts";
import { startTestServer } from "../../helpers/server.ts";

/** Probes from another process until the status is the given one, while this thread, which serves calls, can do nothing. */
function probeWhileBusy(url: string, status: number): string {
  const program = `
    for (;;) {
      const response = await fetch(${JSON.stringify(url)});
      const body = await response.text();
      if (response.status === ${status}) { console.log(body); break; }
    }`;
  const options = { encoding: "utf8", timeout: 60_000 } as const;
  return spawnSync(process.execPath, ["--input-type=module", "-e", program], options).stdout.trim();
}

async function start(options: Partial<Parameters<typeof startProbeServer>[0]> = {}) {
  const parts = { host: "127.0.0.1", probePort: 0, readinessChecks: [], isDraining: () => false };
  const server = await startProbeServer({ ...parts, ...options });
  onTestFinished(server.stop);
  return server.url ?? "";
}

test("a server responds to probes on their own port, while it can do nothing else", async () => {
  await using server = await startTestServer({ env: { PROBE_PORT: "0" } });

  expect(probeWhileBusy(`${server.probeUrl}/readyz`, 200)).toBe('{"status":"ready"}');
  expect(probeWhileBusy(`${server.probeUrl}/healthz`, 200)).toBe('{"status":"ok"}');
});

test.each([
  ["/readyz", { readyMs: 300 }],
  ["/healthz", { aliveMs: 300 }],
])("%s becomes 503 when the main thread is silent for too long", async (path, limit) => {
  const url = await start(limit);

  expect(probeWhileBusy(url + path, 503)).toBe('{"status":"unavailable"}');
});

test("a server that fails a check or drains, is alive and no longer ready", async () => {
  const state = { fails: false, drains: false };
  const check = async () => {
    if (state.fails) throw new Error("away");
  };
  const url = await start({ readinessChecks: [check], isDraining: () => state.drains });
  const untilReadyIs = async (status: number) => {
    while ((await fetch(`${url}/readyz`)).status !== status);
  };

  await untilReadyIs(200);
  state.fails = true;
  await untilReadyIs(503);
  state.fails = false;
  await untilReadyIs(200);
  state.drains = true;
  await untilReadyIs(503);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

test("nothing else is served there", async () => {
  const url = await start();

  const posted = await fetch(`${url}/readyz`, { method: "POST" });
  expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  expect((await fetch(`${url}/v1/refunds`)).status).toBe(404);
});
