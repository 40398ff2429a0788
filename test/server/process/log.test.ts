import { once } from "node:events";
import { expect, test } from "vitest";
import { post, spawnServer } from "../../helpers/server.ts";

/** More calls than a pipe and its buffers can hold, at some two hundred bytes of log each. */
const CALLS = 1_000;

/** On a busy machine the start and so many calls take as long as other tests may. */
const LIMIT_MS = 60_000;

/** A sandbox after many calls, whose log was read only up to the welcome. */
async function createUnread() {
  const server = await spawnServer({ env: { LOG_FORMAT: "json", RATE_LIMIT: "off" } });
  const { url } = server;
  const { stdout } = server.child;
  const ended = once(server.child, "exit");
  stdout.pause();

  // Of no operation, so that no call waits for the database. Of calls without a token, few have a line of their own.
  const call = async () => (await post(url, "/v1/unknown", {}, { token: null })).status;
  const statuses = new Set<number>();
  const waiting = Array(CALLS).keys();
  const caller = async () => {
    for (const _ of waiting) statuses.add(await call());
  };
  await Promise.all(Array.from({ length: 8 }, caller));
  expect([...statuses]).toEqual([404]);
  return { server, stdout, ended, call };
}

test("a log reader that pauses delays no call, and no line is lost", { timeout: LIMIT_MS }, async () => {
  const { server, stdout, ended } = await createUnread();

  stdout.resume();
  server.kill("SIGTERM");

  expect(await ended).toEqual([0, null]);
  expect((await server.exit).stdout.match(/"status":404/g)).toHaveLength(CALLS);
});
