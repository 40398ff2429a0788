import { describe, expect, test } from "vitest";
import { createTestClient, failureOf, made, REQUEST } from "../../client/factories.ts";
import { hangUp, type Step, startScriptedServer } from "../../client/scripted-server.ts";

describe("an access token may be a function", () => {
  test("which is asked before each request, because a token may expire between two", async () => {
    const seen: (string | undefined)[] = [];
    const note =
      (step: Step): Step =>
      (response, request) => {
        seen.push(request.headers.authorization);
        step(response, request);
      };
    await using server = await startScriptedServer(note(hangUp), note(made));
    const tokens = ["first", "second", "third"].values();
    const { client } = createTestClient(server.url, { accessToken: async () => String(tokens.next().value) });

    await client.refunds.issue(REQUEST);
    await client.refunds.issue(REQUEST);

    expect(seen).toEqual(["Bearer first", "Bearer second", "Bearer third"]);
  });

  const lost = new Error("no issuer");
  const NONE = { name: "NetworkError", cause: lost };
  test.each<[what: string, getToken: () => Promise<string>, error: object]>([
    ["takes too long", () => new Promise(() => {}), { name: "TimeoutError" }],
    ["throws", () => raise(lost), NONE],
    ["rejects", async () => raise(lost), NONE],
    ["gives what no header can have", async () => "a\nb", { name: "NetworkError" }],
  ])(
    "which ends the call when it %s before the first request, and counts as one without a response later",
    async (what, getToken, error) => {
      await using server = await startScriptedServer(hangUp);
      const limits = what === "takes too long" ? { attemptTimeoutMs: 400 } : {};

      const first = createTestClient(server.url, { ...limits, accessToken: getToken });
      const before = await failureOf(first.client.refunds.issue(REQUEST));
      expect(before).toMatchObject({ ...error, attempts: 0, outcomeUnknown: false });
      expect([first.reports, server.bodies]).toEqual([[], []]);

      const tokens = [async () => "t", getToken].values();
      const accessToken = () => tokens.next().value?.() ?? getToken();
      const { client, reports } = createTestClient(server.url, { ...limits, accessToken });
      const after = await failureOf(client.refunds.issue(REQUEST));
      expect(after).toMatchObject({ ...error, attempts: 4, outcomeUnknown: true });
      expect(reports.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
      expect(server.bodies).toHaveLength(1);
    },
  );

  test("which is not waited for after an abort, and whose late token sends nothing", async () => {
    const { promise: token, resolve } = Promise.withResolvers<string>();
    const sent: Request[] = [];
    const fetch = async (request: Request) => Response.json(sent.push(request));
    const { client } = createTestClient("http://127.0.0.1:9", { accessToken: () => token, fetch });
    const controller = new AbortController();

    const call = client.refunds.issue(REQUEST, { signal: controller.signal });
    setImmediate(() => controller.abort("enough"));

    await expect(call).rejects.toBe("enough");
    resolve("late");
    await new Promise((done) => setImmediate(done));
    expect(sent).toEqual([]);
  });
});

function raise(error: Error): never {
  throw error;
}
