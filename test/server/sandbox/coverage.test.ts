import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { readContract } from "../../../openapi/document/contract.ts";
import { setAt } from "../../../openapi/document/pointer.ts";
import { type Element, readElements } from "../../../server/sandbox/handlers/coverage-elements.ts";
import { refundOf } from "../../helpers/factories.ts";
import { serveLocally } from "../../helpers/network/local-server.ts";
import { runProgram } from "../../helpers/process.ts";
import { accept, createSubscriber, startReceiver } from "../../helpers/receiver.ts";
import { createSandboxMerchant } from "../../helpers/sandbox.ts";
import { useTestServer } from "../../helpers/server.ts";
import { forEachTest } from "../../helpers/suite.ts";
import { eventNames } from "../webhooks/event-schema.ts";

const { document, operations } = readContract("openapi");
const { all, inEvent } = readElements(document);
const keyOf = ({ kind, name }: Element) => `${kind} ${name}`;
const names = (kind: string) => all.filter((one) => one.kind === kind).map(({ name }) => name);

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
    ["RefundRequest", "FIELD request RefundRequest.note"],
    ["RefundEventData", "FIELD event RefundEventData.note"],
  ])("grow with the fields of the document (%s)", (schema, element) => {
    const before = all.map(keyOf);
    const pointer = `/components/schemas/${schema}/properties/note`;
    const after = readElements(setAt(document, pointer, { type: "string" })).all.map(keyOf);

    expect(after.filter((one) => !before.includes(one))).toEqual([element]);
  });
});

describe("GET /sandbox/coverage", () => {
  const server = useTestServer();
  const acme = forEachTest(() => createSubscriber(server));
  const coverage = async (call = {}) => (await acme.sandbox("getCoverage", call)).body;
  const met = async () => (await coverage()).items.filter(({ count }) => count > 0).map(keyOf);

  test("counts what a merchant's calls meet, whatever is reset, until it is cleared", async () => {
    const other = await createSandboxMerchant(server);
    await acme.refund();
    await acme.refund();
    await acme.sandbox("resetSandbox");

    const { percent, met: count, total, kinds, items } = await coverage();

    const counted = items.filter((one) => one.count > 0);
    expect(new Set(counted.map((one) => one.count))).toEqual(new Set([2]));
    expect(counted.map(keyOf)).toEqual([
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
    ]);
    expect([percent, count, total]).toEqual([Math.floor(1100 / all.length), 11, all.length]);
    expect(kinds.find(({ kind }) => kind === "STATE")).toEqual({ kind: "STATE", met: 1, total: 3 });
    expect((await coverage({ token: other.token })).met).toBe(0);
    await acme.sandbox("clearCoverage");
    expect(await met()).toEqual([]);
  });

  test("counts the fields of no request that got 400, and no response that was lost", async () => {
    await acme.issue({ softDescriptor: "x" });
    await acme.sandbox("armFault", { body: { kind: "CLOSED_AFTER" } });
    await acme.issue(refundOf("pay_none")).catch(() => undefined);

    const ofProblem = /^response (InvalidRequestProblem|Violation|ProblemErrorDetails)\./;
    const fields = names("FIELD").filter((name) => ofProblem.test(name));
    expect(new Set(await met())).toEqual(
      new Set([
        ...["OPERATION issueRefund", "STATUS issueRefund 400", "ERROR_CODE INVALID_REQUEST"],
        ...fields.map((name) => `FIELD ${name}`),
      ]),
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
    const events = async () => (await met()).filter((key) => key.startsWith("EVENT"));
    expect(await events()).toEqual([]);

    status = 204;
    await acme.sandbox("advanceClock", { body: { by: "PT6S" } });
    await acme.delivery("DELIVERED", 2);

    expect(await events()).toEqual(["EVENT refund.authorized"]);
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
      ...["101", "80.5", ""].map((limit): [string[], RegExp] => [
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

    test.each([
      ["has no such page", (response: ServerResponse) => response.writeHead(404).end("<h1>Not found</h1>")],
      [
        "is a broken proxy",
        (response: ServerResponse) => response.writeHead(502).end("<h1>Bad gateway</h1>"),
      ],
      ["never responds", () => {}],
    ])("exits with 2 at a server that %s", async (_name, respond) => {
      await using other = await serveLocally((_request, response) => void respond(response));

      const stderr = `There is no sandbox at ${other.url}. Start one, or name it by --url.\n`;
      expect(await run("--url", other.url)).toMatchObject({ code: 2, stdout: "", stderr });
    });
  });
});
