import { describe, expect, test } from "vitest";
import { type SendOptions, send } from "../../../../server/webhooks/send-request.ts";
import type { TargetPolicy } from "../../../../server/webhooks/target-policy.ts";
import { resolverOf } from "../../../helpers/network/nameserver.ts";
import { respondWith, startRawReceiver, startReceiver } from "../../../helpers/receiver.ts";

const PRODUCTION: TargetPolicy = { allowLocal: false, allowPrivate: false };
const SANDBOX: TargetPolicy = { allowLocal: true, allowPrivate: false };

const NAMES = {
  "loopback.example.com": ["127.0.0.1"],
  "loopback6.example.com": ["::1"],
  "mapped.example.com": ["::ffff:127.0.0.1"],
  "private.example.com": ["10.0.0.1"],
  "unique-local.example.com": ["fd00::1"],
  "metadata.example.com": ["169.254.169.254"],
  "translated.example.com": ["64:ff9b::7f00:1"],
  "both.example.com": ["93.184.216.34", "127.0.0.1"],
  "half-private.example.com": ["127.0.0.1", "10.0.0.1"],
  "zoned.example.com": ["fe80::1%eth0"],
  "nonsense.example.com": ["not an address"],
  "empty.example.com": [],
};

const optionsOf = (policy: TargetPolicy): SendOptions => ({
  policy,
  resolve: resolverOf(NAMES),
  timeoutMs: 120_000,
  signal: new AbortController().signal,
});
const DELIVERY = { headers: {}, body: "{}" };
const NOT_PUBLIC = "the host has an address that is not public";
const OF_SANDBOX = "; WEBHOOK_ALLOW_PRIVATE=false forbids private ones";
const NO_PUBLIC_HOST = "the url must have a public host";

describe("a target that is not allowed is never connected to", () => {
  test.each<[policy: TargetPolicy, target: string, error: string]>([
    // Literal addresses; all ways to write them are tested with the policy itself.
    [PRODUCTION, "http://127.0.0.1", "the url must begin with https://"],
    [PRODUCTION, "https://2130706433", `${NO_PUBLIC_HOST}; 127.0.0.1 is not a public address`],
    [SANDBOX, "http://10.0.0.1", `${NO_PUBLIC_HOST}; 10.0.0.1 is not a public address${OF_SANDBOX}`],
    // Names, which are resolved when connecting.
    ...Object.keys(NAMES)
      .filter((name) => name !== "empty.example.com")
      .map((name): [TargetPolicy, string, string] => [PRODUCTION, `https://${name}`, NOT_PUBLIC]),
    [SANDBOX, "http://private.example.com", NOT_PUBLIC + OF_SANDBOX],
    [SANDBOX, "http://metadata.example.com", NOT_PUBLIC + OF_SANDBOX],
    [SANDBOX, "http://translated.example.com", NOT_PUBLIC + OF_SANDBOX],
    [SANDBOX, "http://half-private.example.com", NOT_PUBLIC + OF_SANDBOX],
    [SANDBOX, "http://empty.example.com", "the host has no address"],
    [SANDBOX, "http://unknown.example.com", "the host name does not resolve"],
  ])("%j %s", async (policy, target, error) => {
    await using receiver = await startRawReceiver((socket) => socket.end());

    const result = await send({ ...DELIVERY, url: `${target}:${receiver.port}/` }, optionsOf(policy));

    expect(result).toEqual({ status: null, error, retryAfter: undefined, bodyStart: null, timedOut: false });
    expect(receiver.connections()).toBe(0);
  });

  test("by a redirect", async () => {
    await using inner = await startReceiver();
    for (const status of [301, 302, 303, 307, 308]) {
      await using receiver = await startReceiver(respondWith(status, { location: inner.url }));

      const result = await send({ ...DELIVERY, url: receiver.url }, optionsOf(SANDBOX));

      expect(result.error).toBe(`responded ${status}, and redirects are not followed`);
    }
    expect(inner.received).toEqual([]);
  });

  test("by a name that resolves to another address after it was checked", async () => {
    await using receiver = await startReceiver();
    const { port } = new URL(receiver.url);
    const resolutions = [["127.0.0.1"], ["10.0.0.1"], ["127.0.0.1", "10.0.0.1"], ["127.0.0.1"]];
    let lookups = 0;
    const options: SendOptions = {
      ...optionsOf(SANDBOX),
      resolve: (hostname) => {
        const resolve = resolverOf({ [hostname]: resolutions[lookups] ?? [] });
        lookups += 1;
        return resolve(hostname);
      },
    };

    const results = [];
    for (const _ of resolutions) {
      results.push(await send({ ...DELIVERY, url: `http://turning.example.com:${port}/` }, options));
    }

    expect(results.map(({ error }) => error)).toEqual([
      null,
      NOT_PUBLIC + OF_SANDBOX,
      NOT_PUBLIC + OF_SANDBOX,
      null,
    ]);
    // One lookup for each connection: the address that was checked is the one that is used.
    expect(lookups).toBe(resolutions.length);
    expect(receiver.received.length).toBe(2);
  });

  test("by a second connection that is taken over from an earlier delivery", async () => {
    await using receiver = await startRawReceiver((socket) => {
      socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
    });

    for (const _ of [1, 2, 3]) {
      await send({ ...DELIVERY, url: `http://127.0.0.1:${receiver.port}/` }, optionsOf(SANDBOX));
    }

    expect(receiver.connections()).toBe(3);
  });
});
