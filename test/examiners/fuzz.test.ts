import { describe, expect, test } from "vitest";
import { useTestServer } from "../helpers/server.ts";
import { forEachTest } from "../helpers/suite.ts";
import { type FuzzOptions, fuzz, levels } from "../proofs/fuzz/fuzzer.ts";
import { type Fault, type HttpResponse, startFaultyServer } from "./conformance/faulty-server.ts";

/** A change of every response but those of the sandbox's own calls, which are not tested here. */
const altered =
  (alter: (received: HttpResponse, sent: string) => HttpResponse | Promise<HttpResponse>): Fault =>
  async (call, forward) => {
    const received = await forward(call);
    return isOwn(call.path) ? received : alter(received, call.body.toString());
  };

/** The same, of the bodies of requests. */
const sentAs =
  (alter: (body: string) => string): Fault =>
  (call, forward) =>
    forward(isOwn(call.path) ? call : { ...call, body: Buffer.from(alter(call.body.toString())) });

const isOwn = (path: string) => path.startsWith("/sandbox/");

const _replaced = (body: Buffer, pattern: RegExp, text: string) =>
  Buffer.from(body.toString().replace(pattern, text));

const SETTINGS = { seed: 20_260_101, connections: 2, limitMs: 120_000 };

describe("requests made from the contract", () => {
  const server = useTestServer({ engine: "postgres" });
  const proxy = forEachTest(() => startFaultyServer(server.url));
  /** Fuzzes the faulty server, so that a run can be repeated. */
  const fuzzFaulty = (options: Partial<FuzzOptions>) =>
    fuzz({ ...SETTINGS, url: proxy.url, runs: 300, connections: 1, ...options });

  test("all get the documented response, the good and the bad", async () => {
    const { tally, failure } = await fuzz({ ...SETTINGS, url: server.url, runs: 400 });

    expect(failure).toBeUndefined();
    expect(tally.calls).toBeGreaterThan(400);
    expect([...tally.statuses.keys()].sort()).toEqual([...levels].sort());
    expect(server.logLines.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
  });

  const refund = '{"paymentId":"rfd_1","paymentStatus":"PENDING","clientReferenceId":null}';
  // Whatever else the document does not allow is found by the same function, which the tables of responses prove.
  const faulty: [name: string, level: string, message: string, fault: Fault][] = [
    [
      "an internal error",
      "valid",
      "it gets 500",
      altered((received, sent) =>
        sent.includes("softDescriptor") ? { ...received, status: 500 } : received,
      ),
    ],
    [
      "an invalid request accepted",
      "invalid",
      "it should get 400",
      async (call, forward) => {
        const received = await forward(call);
        return call.path === "/v1/refunds"
          ? { ...received, status: 201, body: Buffer.from(refund) }
          : received;
      },
    ],
    [
      "a large amount rounded",
      "invalid",
      "it should get 400",
      sentAs((body) => body.replace(/(?<="value":\d{3,}\.\d\d)\d+/, "")),
    ],
    [
      "another amount stored",
      "valid",
      "what is stored is not what was sent",
      sentAs((body) => body.replace(/"value":0\.01\b/, '"value":0.02')),
    ],
  ];

  test.each(faulty)("show a server's fault: %s", async (_name, level, message, fault) => {
    proxy.plant(fault);

    const { failure } = await fuzzFaulty({ levels: [level] });

    expect(failure?.message).toContain(message);
    const { seed = 0, path } = failure ?? {};
    const repeated = await fuzzFaulty({ levels: [level], seed, path, runs: 1 });
    expect(repeated.failure?.message).toContain(message);
  });

  test("show a call that never gets a response", async () => {
    let calls = 0;
    proxy.plant(altered((received) => (++calls === 20 ? new Promise(() => {}) : received)));

    const { failure } = await fuzzFaulty({ levels: ["invalid"], runs: 50, limitMs: 1000 });

    expect(failure?.message).toContain("no whole response within 1000 ms");
    expect(failure?.request.toString()).toContain("POST /v1/");
  });
});
