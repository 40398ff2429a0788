import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readContract } from "../../../openapi/document/contract.ts";
import { setAt } from "../../../openapi/document/pointer.ts";
import { type Element, readElements } from "../../../server/sandbox/coverage/elements.ts";
import { refundOf } from "../../helpers/factories.ts";
import { runProgram } from "../../helpers/process.ts";
import { accept, startReceiver } from "../../helpers/receiver.ts";
import { createSandboxMerchant } from "../../helpers/sandbox.ts";
import { startTestServer, type TestServer } from "../../helpers/server.ts";
import { createSubscriber, type Subscriber } from "../../helpers/subscriber.ts";
import { eventNames } from "../webhooks/event-schema.ts";

const { document, operations } = readContract("openapi");
const { all, inEvent } = readElements(document);
const keyOf = ({ kind, name }: Element) => `${kind} ${name}`;
const names = (kind: string, elements: readonly Element[] = all) =>
  elements.filter((one) => one.kind === kind).map(({ name }) => name);

describe("the elements of the contract", () => {
  test("are all operations, statuses, events and states of the document", () => {
    const statuses = operations.flatMap(({ id, statuses }) => statuses.map((status) => `${id} ${status}`));

    expect(names("OPERATION")).toEqual(operations.map(({ id }) => id));
    expect(names("STATUS").toSorted()).toEqual(statuses.toSorted());
    expect(names("EVENT")).toEqual(eventNames());
    expect(names("STATE")).toEqual(["PENDING", "AUTHORIZED", "TERMINAL_FAILED"]);
    expect(names("FIELD")).toContain("request AllSubscription.details");
    expect(new Set(all.map(keyOf)).size).toBe(all.length);
  });

  test("are none in an event that the document does not have, such as one of a later version", () => {
    expect([...inEvent({ type: "refund.reversed" })]).toEqual([]);
  });

  test.each([
    [
      "/components/schemas/RefundRequest/properties/note",
      { type: "string" },
      "FIELD request RefundRequest.note",
    ],
    [
      "/components/schemas/RefundEventData/properties/note",
      { type: "string" },
      "FIELD event RefundEventData.note",
    ],
    ["/paths/~1v1~1refunds/post/responses/425", {}, "STATUS issueRefund 425"],
    ["/webhooks/refund.reversed", { post: {} }, "EVENT refund.reversed"],
    [
      "/components/schemas/RefundStatus/enum",
      ["PENDING", "AUTHORIZED", "TERMINAL_FAILED", "REVERSED"],
      "STATE REVERSED",
    ],
  ])("grow with the document at %s", (pointer, value, element) => {
    const before = all.map(keyOf);
    const after = readElements(setAt(document, pointer, value)).all.map(keyOf);

    expect(after.filter((one) => !before.includes(one))).toEqual([element]);
  });
});

/** @decision D25 */
describe("GET /sandbox/coverage", () => {
  let server: TestServer;
  let acme: Subscriber;
  beforeAll(async () => {
    server = await startTestServer();
    return () => server.close();
  });
  beforeEach(async () => {
    acme = await createSubscriber(server);
  });
  const coverage = async ({ sandbox } = acme) => (await sandbox("getCoverage")).body;
  const met = async () => (await coverage()).items.filter(({ count }) => count > 0).map(keyOf);

  test("counts what a merchant's calls meet, whatever is reset, until it is cleared", async () => {
    const other = await createSandboxMerchant(server);
    await acme.refund();
    await acme.refund();
    await acme.sandbox("resetSandbox");

    const { percent, met: count, total, kinds, items } = await coverage();

    expect(items.filter((one) => one.count > 0)).toEqual(
      [
        "OPERATION issueRefund",
        "FIELD request RefundRequest.paymentId",
        "FIELD request RefundRequest.amount",
        "FIELD request Amount.currency",
        "FIELD request Amount.value",
        "FIELD request RefundRequest.requestKey",
        "STATUS issueRefund 201",
        "FIELD response Refund.paymentId",
        "FIELD response Refund.paymentStatus",
        "STATE AUTHORIZED",
        "FIELD response Refund.clientReferenceId",
      ].map((key) => ({ kind: key.split(" ")[0], name: key.slice(key.indexOf(" ") + 1), count: 2 })),
    );
    expect({ percent, count, total }).toEqual({
      percent: Math.floor(1100 / all.length),
      count: 11,
      total: all.length,
    });
    expect(kinds.find(({ kind }) => kind === "STATE")).toEqual({ kind: "STATE", met: 1, total: 3 });
    expect((await coverage({ ...acme, ...other })).met).toBe(0);
    await acme.sandbox("clearCoverage");
    expect(await met()).toEqual([]);
  });

  test("counts the fields of no request that got 400, and no response that was lost", async () => {
    await acme.issue({ softDescriptor: "x" });
    await acme.sandbox("armFault", { body: { kind: "CLOSED_AFTER" } });
    await acme.issue(refundOf("pay_none")).catch(() => undefined);

    expect(await met()).toEqual(
      [
        "OPERATION issueRefund",
        "STATUS issueRefund 400",
        ...names("FIELD").flatMap((name) =>
          /^response (InvalidRequestProblem|Violation|ProblemErrorDetails)\./.test(name)
            ? [`FIELD ${name}`]
            : [],
        ),
        "ERROR_CODE INVALID_REQUEST",
      ].toSorted(byContract),
    );
  });

  test("counts events that a receiver accepted, and those of faults when they were what the contract says", async () => {
    let status = 500;
    await using receiver = await startReceiver((response, ...rest) =>
      status === 204 ? accept(response, ...rest) : response.writeHead(status).end(),
    );
    await acme.subscribe(receiver.url, {
      subscriptionDetails: { type: "EVENT", details: ["refund.authorized"] },
    });
    await acme.sandbox("clearCoverage");
    await acme.sandbox("armFault", { body: { kind: "UNKNOWN_EVENT" } });
    await acme.refund();
    await acme.delivery("PENDING", 1);
    expect(
      names(
        "EVENT",
        (await coverage()).items.filter(({ count }) => count > 0),
      ),
    ).toEqual([]);

    status = 204;
    await acme.sandbox("advanceClock", { body: { by: "PT6S" } });
    await acme.delivery("DELIVERED", 2);

    expect(
      names(
        "EVENT",
        (await coverage()).items.filter(({ count }) => count > 0),
      ),
    ).toEqual(["refund.authorized"]);
    expect(await met()).toContain("FIELD event RefundEventData.requestKey");
  });

  describe("npx @refund-contract/sandbox coverage", () => {
    const run = (...args: string[]) =>
      runProgram([process.execPath, "server/sandbox/cli.ts", "coverage", ...args], { env: {} });

    test.each([
      ["6", 0, ""],
      ["100", 1, /^The coverage of 6 % is under 100 %\.\n$/],
    ])("--fail-under %s exits with %i", async (limit, code, error) => {
      await acme.refund();

      const exit = await run("--url", server.url, "--token", acme.token, "--fail-under", limit);

      expect(exit).toMatchObject({
        code,
        stderr: typeof error === "string" ? error : expect.stringMatching(error),
      });
      expect(exit.stdout).toMatch(/^OPERATION +1 of 2\n/);
      expect(exit.stdout).toMatch(/\nall +11 of \d+ {2}6 %\n\nNot met:\n/);
      expect(exit.stdout).toContain("\n  STATE       PENDING\n");
      expect(exit.stdout).not.toContain("STATE       AUTHORIZED");
    });

    test.each([
      ...["101", "-1", "80.5", "most", ""].map((limit): [string[], RegExp] => [
        [`--fail-under=${limit}`],
        /It must be a whole number from 0 to 100/,
      ]),
      [
        ["--url", "http://127.0.0.1:9"],
        /^There is no sandbox at http:\/\/127\.0\.0\.1:9\. Start one, or name it by --url\.\n$/,
      ],
      [["--token", "sandbox_nobody"], /^401 The access token is missing/],
    ])("%j exits with 2", async (args, error) => {
      const exit = await run("--url", server.url, ...args);

      expect(exit).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(error) });
    });
  });
});

const order = new Map(all.map((one, index) => [keyOf(one), index]));
const byContract = (a: string, b: string) => (order.get(a) ?? 0) - (order.get(b) ?? 0);
