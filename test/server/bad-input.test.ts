import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../helpers/server.ts";
import { countRows, type InvalidRequest } from "./given.ts";
import { exchange, head, type RawAnswer } from "./raw-http.ts";

/** A whole body; each case writes one part of it in another way. */
function refund({
  paymentId = '"pay_settled"',
  amount = '{"currency":"USD","value":1.00}',
  requestKey = '"bad-input"',
  more = "",
}: {
  paymentId?: string;
  amount?: string;
  requestKey?: string;
  more?: string;
}): string {
  return `{"paymentId":${paymentId},"amount":${amount},"requestKey":${requestKey}${more}}`;
}

const value = (literal: string) => refund({ amount: `{"currency":"USD","value":${literal}}` });
const currency = (literal: string) => refund({ amount: `{"currency":${literal},"value":1}` });
const descriptor = (text: string) => refund({ more: `,"softDescriptor":${JSON.stringify(text)}` });

describe("a refund call with a bad body", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  /** Sends the bytes as they are, and expects a 400 that leaves no trace. */
  async function refuse(body: string | Uint8Array): Promise<InvalidRequest> {
    const before = await countRows(server);
    const bytes = Buffer.from(body);
    const answer = await exchange(server.url, head("/v1/refunds", { "Content-Length": bytes.length }), bytes);
    expect(await countRows(server)).toEqual(before);
    return toCleanProblem(answer);
  }

  const pointersOf = async (body: string | Uint8Array) =>
    (await refuse(body)).violations.map(({ pointer }) => pointer);

  /** @clause 1.5 7.3 @decision D15 */
  test.each<[name: string, body: string | Uint8Array]>([
    ["is empty", ""],
    ["is null", "null"],
    ["is a list", "[]"],
    ["is a text", '"x"'],
    ["is a number", "1"],
    ["is truncated", '{"paymentId":"pay_settled"'],
    ["has a trailing comma", refund({ more: "," })],
    ["is two documents", refund({}) + refund({})],
    ["begins with a byte order mark", `\uFEFF${refund({})}`],
    ["begins with NUL", `\0${refund({})}`],
    ["holds a raw NUL in a text", refund({ requestKey: '"a\0"' })],
    ["holds a raw line break in a text", refund({ requestKey: '"a\nb"' })],
    ["is not UTF-8", Buffer.from(refund({ requestKey: '"é"' }), "latin1")],
    [
      "holds a surrogate as bytes",
      Buffer.concat([Buffer.from('"'), Buffer.of(0xed, 0xa0, 0x80), Buffer.from('"')]),
    ],
    ["is UTF-16", Buffer.from(refund({}), "utf16le")],
    ["is 33 levels deep", refund({ more: `,"x":${"[".repeat(32)}${"]".repeat(32)}` })],
    ["is as deep as 64 KiB allow", "[".repeat(64 * 1024)],
    ["is as deep as 64 KiB allow, in objects", '{"a":'.repeat(13_000)],
    ["writes a value as NaN", value("NaN")],
    ["writes a value with a leading zero", value("01")],
    ["writes a value with nothing after the point", value("1.")],
  ])("that %s is refused as a whole", async (_name, body) => {
    expect(await pointersOf(body)).toEqual([""]);
  });

  /** @clause 2.1 2.2 2.5 2.7 2.8 12.3 @decision D01 D07 D14 D15 */
  test.each<[name: string, body: string, pointers: string[]]>([
    ["an empty object", "{}", ["/paymentId", "/amount", "/requestKey"]],
    ["a key twice", refund({ more: ',"paymentId":"pay_settled"' }), ["/paymentId"]],
    ["a key twice, once with escapes", refund({ more: ',"payment\\u0049d":"x"' }), ["/paymentId"]],
    [
      "a key twice deeper down",
      refund({ amount: '{"value":1,"currency":"USD","value":1}' }),
      ["/amount/value"],
    ],
    ["a key twice in a list", refund({ more: ',"x":[0,{"a/b":1,"a/b":2}]' }), ["/x/1/a~1b"]],
    ["__proto__", refund({ more: ',"__proto__":{"paymentId":"x"}' }), ["/__proto__"]],
    [
      "__proto__ deeper down",
      refund({ amount: '{"__proto__":{"currency":"USD"},"value":1}' }),
      ["/amount/__proto__", "/amount/currency"],
    ],
    ["constructor", refund({ more: ',"constructor":{"prototype":{}}' }), ["/constructor"]],
    [
      "unknown fields",
      refund({ more: ',"status":"AUTHORIZED","merchantId":"globex"' }),
      ["/status", "/merchantId"],
    ],
    ["an unknown field 31 levels deep", refund({ more: `,"x":${"[".repeat(31)}${"]".repeat(31)}` }), ["/x"]],
    [
      "names that pointers escape",
      refund({ more: ',"a/b":1,"a~b":1,"":1,"/amount/x":1' }),
      ["/a~1b", "/a~0b", "/", "/~1amount~1x"],
    ],
    ["a name too long to repeat", refund({ more: `,"${"n".repeat(2000)}":1` }), [""]],
    [
      "a name of slashes",
      refund({ amount: `{"${"/".repeat(60_000)}":1,"currency":"USD","value":1}` }),
      ["/amount"],
    ],
    ["no amount", '{"paymentId":"a","requestKey":"b"}', ["/amount"]],
    ["an amount that is a number", refund({ amount: "1" }), ["/amount"]],
    ["an amount that is a list", refund({ amount: "[]" }), ["/amount"]],
    ["no currency and no value", refund({ amount: "{}" }), ["/amount/currency", "/amount/value"]],
    ["no paymentId", '{"amount":{"currency":"USD","value":1},"requestKey":"a"}', ["/paymentId"]],
    ["an empty paymentId", refund({ paymentId: '""' }), ["/paymentId"]],
    ["a paymentId of 65 code points", refund({ paymentId: `"${"😀".repeat(65)}"` }), ["/paymentId"]],
    ["a paymentId of 10 KB", refund({ paymentId: `"${"x".repeat(10_000)}"` }), ["/paymentId"]],
    ["a paymentId that is a number", refund({ paymentId: "7" }), ["/paymentId"]],
    ["a paymentId with a lone surrogate", refund({ paymentId: '"a\\ud800"' }), ["/paymentId"]],
    ["a paymentId with U+0000", refund({ paymentId: '"\\u0000"' }), ["/paymentId"]],
    ["no requestKey", '{"paymentId":"a","amount":{"currency":"USD","value":1}}', ["/requestKey"]],
    ["an empty requestKey", refund({ requestKey: '""' }), ["/requestKey"]],
    ["a requestKey of 256", refund({ requestKey: `"${"x".repeat(256)}"` }), ["/requestKey"]],
    ["a requestKey that is a number", refund({ requestKey: "7" }), ["/requestKey"]],
    ["a requestKey that is null", refund({ requestKey: "null" }), ["/requestKey"]],
    ["a requestKey with U+0000", refund({ requestKey: '"a\\u0000b"' }), ["/requestKey"]],
    ["a requestKey with a lone surrogate", refund({ requestKey: '"\\udc00\\ud800"' }), ["/requestKey"]],
    ["a softDescriptor of 81", descriptor("x".repeat(81)), ["/softDescriptor"]],
    ["a softDescriptor with punctuation", descriptor("ACME, Inc."), ["/softDescriptor"]],
    ["a softDescriptor with CR LF", descriptor("ACME\r\nX"), ["/softDescriptor"]],
    ["a softDescriptor that ends in a line feed", descriptor("ACME\n"), ["/softDescriptor"]],
    ["a softDescriptor with letters beyond ASCII", descriptor("Café"), ["/softDescriptor"]],
    ["a softDescriptor that is null", refund({ more: ',"softDescriptor":null' }), ["/softDescriptor"]],
    [
      "a clientReferenceId that is null",
      refund({ more: ',"clientReferenceId":null' }),
      ["/clientReferenceId"],
    ],
    [
      "a misspelt reference that is null",
      refund({ more: ',"clientRefefenceId":null' }),
      ["/clientRefefenceId"],
    ],
    ["an empty clientReferenceId", refund({ more: ',"clientReferenceId":""' }), ["/clientReferenceId"]],
    [
      "a clientReferenceId of 256",
      refund({ more: `,"clientReferenceId":"${"x".repeat(256)}"` }),
      ["/clientReferenceId"],
    ],
    [
      "conflicting references",
      refund({ more: ',"clientReferenceId":"a","clientRefefenceId":"b"' }),
      ["/clientRefefenceId"],
    ],
  ])("with %s is told which field is wrong", async (_name, body, pointers) => {
    expect((await pointersOf(body)).sort()).toEqual(pointers.sort());
  });

  /** @clause 2.4 12.1 @decision D13 */
  test.each([
    ...[
      "0",
      "0.00",
      "-1",
      "-0",
      "-0.0",
      "0.001",
      "10.005",
      "10.000",
      "1e2",
      "1E0",
      "1e-2",
      "1e400",
      "-1e400",
    ],
    ...["10.990000000000000001", "9999999999.991", "9999999999.995", "10000000000", "99999999999999.99"],
    ...['"10.00"', '"1"', "true", "null", "[]", "[1]", "{}"],
  ])("with a value of %s is told so once", async (literal) => {
    expect(await pointersOf(value(literal))).toEqual(["/amount/value"]);
  });

  /** @clause 2.3 12.2 @decision D13 */
  test.each(['"usd"', '"EUR"', '""', '"USD "', "null", "1", '["USD"]'])(
    "with a currency of %s is told so once",
    async (literal) => {
      expect(await pointersOf(currency(literal))).toEqual(["/amount/currency"]);
    },
  );

  /** @decision D07 */
  test("is told of all its faults at once", async () => {
    const { violations } = await refuse(
      '{"paymentId":1,"amount":{"currency":"EUR","value":1.001,"tip":1},"status":1,"clientReferenceId":"a","clientRefefenceId":"b"}',
    );

    expect(violations.map(({ pointer }) => pointer).sort()).toEqual([
      "/amount/currency",
      "/amount/tip",
      "/amount/value",
      "/clientRefefenceId",
      "/paymentId",
      "/requestKey",
      "/status",
    ]);
  });

  /** @decision D07 */
  test("is told of 20 faults at most, and how many there are", async () => {
    const many = Array.from({ length: 5000 }, (_, index) => `,"f${index}":0`).join("");

    const { detail, violations } = await refuse(refund({ more: many }));

    expect(violations).toHaveLength(20);
    expect(detail).toBe("The call has 5000 faults; see violations.");
  });

  test.each([
    "../../etc/passwd",
    "' or 1=1; drop table payments --",
    "😀",
    "%s%n",
    "#{7*7}",
    "pay_settled ",
    "PAY_SETTLED",
  ])("that is well formed and names the payment %s is answered 404", async (paymentId) => {
    const before = await countRows(server);
    const body = refund({ paymentId: JSON.stringify(paymentId) });
    const answer = await exchange(
      server.url,
      head("/v1/refunds", { "Content-Length": Buffer.byteLength(body) }),
      body,
    );

    expect(answer).toMatchObject({ status: 404, body: { errorDetails: { errorCode: "NOT_FOUND" } } });
    expect(await countRows(server)).toEqual(before);
  });
});

/** Nothing but what the contract names, and each text within its bounds. */
function toCleanProblem({ status, body }: RawAnswer): InvalidRequest {
  const problem = body as InvalidRequest; // compared as a whole in the next line
  expect([status, problem]).toEqual([
    400,
    {
      type: "urn:problem:invalid-request",
      title: "Invalid request",
      status: 400,
      detail: expect.stringMatching(/^The call has (one fault|\d+ faults); see violations\.$/),
      instance: expect.stringMatching(/^urn:uuid:[0-9a-f-]{36}$/),
      errorDetails: { errorCode: "INVALID_REQUEST", errorMessage: problem.detail },
      violations: problem.violations.map(() => ({
        pointer: expect.stringMatching(/^.{0,1000}$/su),
        message: expect.stringMatching(/^.{1,1000}$/),
      })),
    },
  ]);
  return problem;
}
