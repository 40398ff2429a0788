import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../helpers/databases.ts";
import { type Answer, post, startTestServer, type TestServer } from "../helpers/server.ts";
import { countRows, givenMerchant, givenPayment, givenToken, type Problem, refundOf } from "./given.ts";

const LIMIT = 2;
/** At once; far more than a burst, also when the quota is renewed once or twice meanwhile. */
const MANY = 30;

/** @decision D27 */
describe.each(engines)("the rate limit on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ engine, env: { RATE_LIMIT: `${LIMIT}` } });
  });
  afterAll(() => server.close());

  const call = (token: string, body: unknown = {}) =>
    post<Problem>(server.url, "/v1/refunds", body, { token });
  const isLimited = ({ status }: Answer<unknown>) => status === 429;

  test("allows twice as many calls in a burst, then answers 429 with Retry-After", async () => {
    const { token } = await givenMerchant(server);

    const answers = await Promise.all(Array.from({ length: MANY }, () => call(token)));

    const limited = answers.find(isLimited);
    expect(answers.filter((answer) => !isLimited(answer)).length).toBeGreaterThanOrEqual(2 * LIMIT);
    expect(limited?.body.errorDetails.errorCode).toBe("RATE_LIMITED");
    expect(limited?.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    expect(limited?.headers.get("ratelimit")).toMatch(/^"merchant";r=0;t=\d+$/);
  });

  test("tells every caller what is left, whatever the answer", async () => {
    const { merchant, token } = await givenMerchant(server);
    const paymentId = await givenPayment(server, { merchant });

    const issued = await call(token, refundOf(paymentId));
    const refused = await call(token);

    expect([issued.status, refused.status]).toEqual([201, 400]);
    for (const { headers } of [issued, refused]) {
      expect(headers.get("ratelimit-policy")).toBe(`"merchant";q=${LIMIT};w=1`);
      expect(headers.get("ratelimit")).toMatch(/^"merchant";r=\d+;t=\d+$/);
    }
  });

  test("is the merchant's: all its tokens share it, and no other merchant suffers", async () => {
    const { merchant, token: first } = await givenMerchant(server);
    const second = await givenToken(server, merchant);
    const other = await givenMerchant(server);

    const answers = Array.from({ length: MANY }, (_, index) => call(index % 2 === 0 ? first : second));
    const ofOther = await call(other.token);

    const served = (await Promise.all(answers)).filter((answer) => !isLimited(answer));
    expect(served.length).toBeLessThan(MANY / 2); // one of the two would have had half of the calls
    expect(ofOther.status).toBe(400);
  });

  test("never uses up a requestKey", async () => {
    const { merchant, token } = await givenMerchant(server);
    const paymentId = await givenPayment(server, { merchant });
    const requests = Array.from({ length: MANY }, () => refundOf(paymentId));
    const before = await countRows(server);

    const answers = await Promise.all(requests.map((request) => call(token, request)));

    const refunds = answers.filter(({ status }) => status === 201).length;
    expect((await countRows(server)).payments).toBe(before.payments + refunds);
    const limited = requests[answers.findIndex(isLimited)];
    expect((await callWhenAllowed(token, limited)).status).toBe(201);
  });

  /** The quota comes back with real time. */
  async function callWhenAllowed(token: string, body: unknown): Promise<Answer<unknown>> {
    for (;;) {
      const answer = await call(token, body);
      if (!isLimited(answer)) return answer;
    }
  }
});
