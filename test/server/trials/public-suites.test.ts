/** Public test suites, of JSON, URLs, signatures and odd texts, run against the server. */
import { readFileSync } from "node:fs";
import { compactVerify, errors, type JWK } from "jose";
import pLimit from "p-limit";
import { afterAll, expect, test, vi } from "vitest";
import { verifyWebhook } from "../../../client/src/webhooks.ts";
import { createIssuerKeys } from "../../../server/auth/issuer-keys.ts";
import { createLogger } from "../../../server/observability/logger.ts";
import { send } from "../../../server/webhooks/send-request.ts";
import {
  createMerchant,
  createPayment,
  dollars,
  type InvalidRequest,
  type Refund,
  refundOf,
  subscriptionTo,
} from "../../helpers/factories.ts";
import { startConnectProxy } from "../../helpers/network/connect-proxy.ts";
import { serveLocally } from "../../helpers/network/local-server.ts";
import { startReceiver } from "../../helpers/receiver.ts";
import { merchantAt } from "../../helpers/sandbox.ts";
import { post, useTestServer } from "../../helpers/server.ts";

// Public suites as data: test/fixtures/suites/README.md says whose they are, and what is left out.
const server = useTestServer();
// Hundreds of calls take seconds, and on a busy machine many times as long.
vi.setConfig({ testTimeout: 120_000 });
afterAll(vi.resetConfig);

function read(name: string) {
  return JSON.parse(readFileSync(new URL(`../../fixtures/suites/${name}.json`, import.meta.url), "utf8"));
}

/** Judges cases, some at once. A judge returns what is wrong with a case, if anything. */
async function findWrong<Case>(
  cases: readonly Case[],
  judge: (one: Case) => Promise<readonly (string | false)[]>,
): Promise<string[]> {
  const found = await pLimit(8).map(cases, judge);
  return found.flat().filter((wrong) => wrong !== false);
}

function subscribe(subscription: object, { token }: { token: string }) {
  return post<InvalidRequest>(server.url, "/v1/webhook/subscribe", subscription, { token });
}

/** What is wrong with a response that should be a 400 which names no other field than these. */
function misses(pointers: string | string[], { status, body }: { status: number; body: unknown }) {
  const { violations = [] } = body as Partial<InvalidRequest>;
  const namesNoOther = violations.every(({ pointer }) => [pointers].flat().includes(pointer));
  const isRight = status === 400 && violations.length > 0 && namesNoOther;
  return !isRight && JSON.stringify({ pointers, status, body });
}

test("JSONTestSuite: a body that is JSON is read alike, and any other gets a 400 that says so", async () => {
  const paymentId = await createPayment(server);
  const fieldsOf = (name: string) =>
    `${JSON.stringify(refundOf(paymentId, { amount: dollars(0.01), requestKey: name })).slice(0, -1)},"clientReferenceId":`;
  const call = async (...parts: (string | Buffer)[]) => {
    const headers = { Authorization: "Bearer sandbox_acme", "Content-Type": "application/json" };
    const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
    const response = await fetch(`${server.url}/v1/refunds`, { method: "POST", headers, body });
    return { status: response.status, body: (await response.json()) as Partial<InvalidRequest & Refund> };
  };
  const cases = Object.entries<string>(read("json-parsing")).map(
    ([name, body]) => [name, Buffer.from(body, "base64")] as const,
  );
  cases.push(["n_structure_100000_opening_arrays", Buffer.from("[".repeat(100_000))]);
  cases.push(["n_structure_open_array_object", Buffer.from('[{"":'.repeat(50_000))]);

  const wrong = await findWrong(cases, async ([name, document]) => {
    const alone = await call(document);
    const inField = await call(fieldsOf(name), document, "}");
    const [{ message } = { message: "" }] = alone.body.violations ?? [];
    const isRead = !/^(is not valid JSON|is not UTF-8|is empty|begins with a byte order mark)/.test(message);
    const text = name.startsWith("y") ? JSON.parse(document.toString()) : undefined;
    const isReference = typeof text === "string" && !text.includes("\0");
    const shown = JSON.stringify([name, alone, inField]);
    return [
      alone.status !== (document.length > 65_536 ? 413 : 400) && shown,
      alone.status === 400 && !name.startsWith("i") && isRead !== name.startsWith("y") && shown,
      isReference && inField.body.clientReferenceId !== text && shown,
      !isReference && ![400, 413].includes(inField.status) && !name.startsWith("i") && shown,
      inField.status >= 500 && shown,
    ];
  });

  expect([cases.length, wrong]).toEqual([318, []]);
});

test("web-platform-tests: a url that browsers refuse gets a 400, and an accepted one is called where browsers would call it", async () => {
  await using receiver = await startReceiver();
  await using proxy = await startConnectProxy({ port: Number(new URL(receiver.url).port) });
  const options = {
    policy: { allowLocal: true, allowPrivate: true },
    resolve: async () => [{ address: "127.0.0.1", family: 4 }],
    proxy: new URL(proxy.url),
    secureContext: undefined,
    timeoutMs: 10_000,
    signal: new AbortController().signal,
  };
  const cases: [input: string, href: string | null, isAbsolute: boolean][] = read("urls");
  let accepted = 0;

  const wrong = await findWrong(cases, async ([input, href, isAbsolute]) => {
    const account = await createMerchant(server);
    const { sandbox } = merchantAt(server, account);
    const judge = async (url: string, expected: string | null) => {
      const subscribed = await subscribe(subscriptionTo(url), account);
      if (subscribed.status !== 200 || expected === null) return misses("/url", subscribed);
      accepted += 1;
      const { items } = (await sandbox("listSubscriptions")).body;
      if (!items.some((listed) => listed.url === url)) return JSON.stringify({ url, items });
      const { protocol, host, pathname, search } = new URL(expected);
      if (protocol === "https:") return false; // no certificate fits
      const body = JSON.stringify(url);
      await send({ url, headers: {}, body }, options);
      const called = receiver.received.find((received) => received.body === body);
      const isRight = called?.headers.host === host && called.target === pathname + search;
      return !isRight && `${url} is called at ${called?.headers.host} ${called?.target}`;
    };
    return [
      await judge(input, isAbsolute ? href : (URL.parse(input)?.href ?? null)),
      href !== null && href !== input && href.startsWith("http") && (await judge(href, href)),
    ];
  });

  expect([cases.length, wrong]).toEqual([891, []]);
  expect(accepted).toBeGreaterThan(100);
});

test("Wycheproof: a key of the issuer verifies exactly the valid signatures of its algorithm", async () => {
  const groups: { key: JWK; tests: [name: string, jws: string, isValid: boolean][] }[] = read("signatures");
  const verify = async (
    keys: Awaited<ReturnType<ReturnType<typeof createIssuerKeys>["find"]>>,
    jws: string,
    algorithm: string,
  ) => {
    for (const key of keys) {
      const payload = await compactVerify(jws, key, { algorithms: [algorithm] }).catch((error: unknown) => {
        if (!(error instanceof errors.JOSEError)) throw error;
      });
      if (payload) return true;
    }
    return false;
  };

  const wrong = await findWrong(groups, async ({ key, tests }) => {
    await using issuer = await serveLocally(
      (_request, response) => void response.end(JSON.stringify({ keys: [key] })),
    );
    const algorithm = key.alg === "ES256" || key.kty === "EC" ? "ES256" : "RS256";
    const logger = createLogger("silent", { write: () => {} });
    const keys = createIssuerKeys({ jwksUrl: new URL(issuer.url), algorithm, keysMaxAgeSeconds: 60, logger });
    const usable = await keys.find(undefined).catch(() => []);
    await keys.stop();
    const problems = tests.map(async ([name, jws, isValid]) => {
      const expected = isValid && key.alg === algorithm;
      return (await verify(usable, jws, algorithm)) !== expected && `${key.alg} ${name}`;
    });
    return Promise.all(problems);
  });

  expect([groups.flatMap(({ tests }) => tests).length, wrong]).toEqual([401, []]);
});

test("the big list of naughty strings: reference, key and secret are returned and delivered as they were sent", async () => {
  await using receiver = await startReceiver();
  const cases: string[] = read("naughty-strings");
  /** The text of each payment that has a refund. */
  const texts = new Map<unknown, string>();

  const wrong = await findWrong(cases, async (text) => {
    const account = await createMerchant(server);
    const paymentId = await createPayment(server, { merchant: account.merchant });
    const subscribed = await subscribe(subscriptionTo(receiver.url, { secretKey: text }), account);
    const refund = refundOf(paymentId, { clientReferenceId: text, requestKey: text });
    const issued = await merchantAt(server, account).issue(refund);
    if (issued.status !== 201) return [misses(["/clientReferenceId", "/requestKey"], issued)];
    if (subscribed.status !== 200) return [misses("/secretKey", subscribed)];
    texts.set(paymentId, text);
    return [issued.body.clientReferenceId !== text && JSON.stringify(issued.body)];
  });
  const changed = (await receiver.first(texts.size)).filter(({ body, headers, event: { data } }) => {
    const text = texts.get(data.originalPaymentId) ?? "";
    verifyWebhook(body, headers, text);
    return data.requestKey !== text || data.clientReferenceId !== text;
  });

  expect([cases.length, wrong, changed]).toEqual([515, [], []]);
  expect(texts.size).toBeGreaterThan(450);
});

test("the big list of naughty strings: every other text field keeps a text, or a 400 names the field", async () => {
  const account = await createMerchant(server);
  const { issue, get } = merchantAt(server, account);
  const { merchant } = account;
  const descriptorOf = async (refundId: string) => {
    const record = await get(refundId);
    return ("softDescriptor" in record && record.softDescriptor) || ""; // an empty one is none
  };

  const wrong = await findWrong<string>(read("naughty-strings"), async (text) => {
    const subscriptionDetails = { type: "EVENT", details: [text] };
    const asUrl = await subscribe(subscriptionTo(text, { subscriptionDetails }), account);
    const unknown = await issue(refundOf(text));
    const issued = await issue(refundOf(await createPayment(server, { merchant }), { softDescriptor: text }));
    return [
      misses(["/url", "/subscriptionDetails/details/0"], asUrl),
      unknown.status !== 404 && misses("/paymentId", unknown),
      issued.status !== 201 && misses("/softDescriptor", issued),
      issued.status === 201 &&
        (await descriptorOf(issued.body.paymentId)) !== text &&
        `softDescriptor ${text}`,
    ];
  });

  expect(wrong).toEqual([]);
});
