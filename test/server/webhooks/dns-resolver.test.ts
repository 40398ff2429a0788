import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { createResolver } from "../../../server/webhooks/dns-resolver.ts";
import { startNameserver } from "../../helpers/network/nameserver.ts";
import { startProgram } from "../../helpers/process.ts";
import { createSubscriber, startReceiver } from "../../helpers/receiver.ts";
import { startTestServer } from "../../helpers/server.ts";

const NAMES: Readonly<Record<string, readonly string[]>> = {
  "hooks.example.com": ["127.0.0.1"],
  "several.example.com": ["192.0.2.1", "192.0.2.2"],
};
const startZone = () => startNameserver((name) => (name.startsWith("silent") ? "silent" : NAMES[name]));
const LOOPBACK = { address: "127.0.0.1", family: 4 };
/** After this time without a response, a query is repeated. */
const FIRST_TRY_MS = 1_500;
const MANY = Array.from({ length: 60 }, (_, index) => `192.0.2.${index + 1}`);
const LATE = "the host name was not resolved in time";

describe("the host name of a receiver", () => {
  test.each([
    ["silent for IPv6", { A: ["127.0.0.1"], AAAA: "silent" }, ["127.0.0.1"]],
    ["silent for IPv4", { A: "silent", AAAA: ["2001:db8::1"] }, ["2001:db8::1"]],
    ["failing for IPv6", { A: ["127.0.0.1"], AAAA: "failed" }, ["127.0.0.1"]],
    ["failing for IPv4", { A: "failed", AAAA: ["2001:db8::1"] }, ["2001:db8::1"]],
    ["that leads to an alias of an alias", { A: ["one.example.com"], AAAA: undefined }, ["192.0.2.1"]],
    ["with more addresses than fit in a datagram", { A: MANY, AAAA: undefined }, MANY],
  ] as const)("has the addresses that came from a nameserver %s", async (_, { A, AAAA }, expected) => {
    const aliases: Readonly<Record<string, string[]>> = {
      "one.example.com": ["two.example.com"],
      "two.example.com": ["192.0.2.1"],
    };
    await using nameserver = await startNameserver((name, family) =>
      name === "hooks.example.com" ? { A, AAAA }[family] : aliases[name],
    );
    const { resolve } = createResolver({ nameservers: [nameserver.address] });
    const startedAt = performance.now();

    const addresses = (await resolve("hooks.example.com", "acme")).map(({ address }) => address);

    expect(addresses.toSorted()).toEqual(expected.toSorted());
    expect(performance.now() - startedAt).toBeLessThan(FIRST_TRY_MS);
  });

  test("that never resolves is abandoned in time, also while it waits for others", async () => {
    await using nameserver = await startZone();
    const resolver = createResolver({ nameservers: [nameserver.address], timeoutMs: 1_500 });
    const startedAt = performance.now();
    const lookups = Array.from({ length: 100 }, (_, index) =>
      resolver.resolve(`silent-${index}.example.com`, "acme"),
    );

    const healthy = await resolver.resolve("hooks.example.com", "globex");
    const results = await Promise.allSettled(lookups);

    expect(healthy).toEqual([LOOPBACK]);
    expect(new Set(results.map((result) => result.status === "rejected" && result.reason.message))).toEqual(
      new Set([LATE]),
    );
    // One round of sixteen after the other would take longer, also without anything else to do.
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    // Sixteen at the same time; the others were abandoned before their turn.
    expect(new Set(nameserver.queried.filter((name) => name.startsWith("silent"))).size).toBe(16);
  });

  test("is looked up once for simultaneous deliveries, and after a failure not again at once", async () => {
    await using nameserver = await startZone();
    const { resolve } = createResolver({ nameservers: [nameserver.address] });
    const lookUp = () => Promise.allSettled([1, 2, 3].map(() => resolve("unknown.example.com", "acme")));

    await lookUp();
    const first = nameserver.queried.length;
    await lookUp();

    expect(first).toBe(2); // one for each family
    expect(nameserver.queried.length).toBe(first);
    await Promise.all([1, 2, 3].map(() => resolve("hooks.example.com", "acme")));
    expect(nameserver.queried.length).toBe(first + 2);
  });
});

test("a receiver whose first addresses refuse connections, or are silent, gets its deliveries at the next one", async () => {
  await using receiver = await startReceiver();
  const port = Number(new URL(receiver.url).port);
  await using _ = await startFrozen(port, "127.0.0.3");
  const addresses = ["127.0.0.2", "127.0.0.3", "127.0.0.1"];
  await using nameserver = await startNameserver(() => addresses);
  await using server = await startTestServer({ webhooks: { nameservers: [nameserver.address] } });
  const acme = await createSubscriber(server);
  await acme.subscribe(`http://hooks.example.com:${port}/`);

  await acme.refund();

  expect(await acme.delivery("DELIVERED", 1)).toMatchObject({ attempts: [{ status: 204 }] });
});

test.each([
  ["", []],
  ["false", ["the host has an address that is not public; WEBHOOK_ALLOW_PRIVATE=false forbids private ones"]],
])(
  "a sandbox logs at once why deliveries would fail, and containers are reached unless a setting forbids it (%j)",
  async (allowed, forbidden) => {
    await using nameserver = await startNameserver((name) =>
      name === "receiver" ? ["172.18.0.7"] : undefined,
    );
    const env = { WEBHOOK_ALLOW_PRIVATE: allowed };
    await using server = await startTestServer({ env, webhooks: { nameservers: [nameserver.address] } });
    const acme = await createSubscriber(server);
    const expected = [
      ...forbidden.map((why) => `http://receiver:8080 would fail: ${why}`),
      "http://recever:8080 would fail: the host name does not resolve",
    ];

    for (const name of ["receiver", "recever"]) await acme.subscribe(`http://${name}:8080/hooks`);

    const warnings = () => server.logLines.flatMap((line) => /deliveries to (.*?)"/.exec(line)?.[1] ?? []);
    await expect.poll(warnings).toEqual(expected);
  },
);

/** Listens at an address, and responds to nobody who connects. */
async function startFrozen(port: number, host: string) {
  const listen =
    "require('net').createServer().listen(...JSON.parse(process.argv[1]), () => console.log('up'))";
  const frozen = startProgram([process.execPath, "-e", listen, JSON.stringify([port, host, 1])]);
  await frozen.untilPrinted(/up/);
  frozen.kill("SIGSTOP");
  // The system accepts two connections on its behalf; then there is no room.
  const connections = [1, 2, 3].map(() => connect(port, host).on("error", () => {}));
  await Promise.all(connections.slice(0, 2).map((connection) => once(connection, "connect")));
  return {
    async [Symbol.asyncDispose]() {
      for (const connection of connections) connection.destroy();
      await frozen[Symbol.asyncDispose]();
    },
  };
}

describe("a nameserver that never responds", () => {
  test("for the names of one merchant holds up no delivery of another", async () => {
    await using nameserver = await startZone();
    await using server = await startTestServer({
      webhooks: { nameservers: [nameserver.address], drainMs: 0 },
    });
    await using receiver = await startReceiver();
    const [acme, other] = [await createSubscriber(server), await createSubscriber(server)];
    for (let index = 0; index < 100; index += 1) await acme.subscribe(`http://silent-${index}.example.com/`);
    const { port } = new URL(receiver.url);
    await other.subscribe(`http://hooks.example.com:${port}/`);
    await acme.refund();

    const startedAt = performance.now();
    for (let count = 1; count <= 10; count += 1) {
      await other.refund();
      await receiver.first(count);
    }

    // The silent names take six rounds of five seconds each.
    expect(performance.now() - startedAt).toBeLessThan(25_000);
    expect(nameserver.queried.filter((name) => name.startsWith("silent")).length).toBeGreaterThan(0);
    expect((await other.deliveries()).length).toBe(10);
  });
});
