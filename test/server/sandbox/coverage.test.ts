import { describe, expect, test } from "vitest";
import { accept, createSubscriber, startReceiver } from "../../helpers/receiver.ts";
import { createSandboxMerchant } from "../../helpers/sandbox.ts";
import { useTestServer } from "../../helpers/server.ts";
import { forEachTest } from "../../helpers/suite.ts";

const keyOf = ({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`;

describe("GET /sandbox/coverage", () => {
  const server = useTestServer();
  const acme = forEachTest(() => createSubscriber(server));
  const coverage = async (call = {}) => (await acme.sandbox("getCoverage", call)).body;
  const met = async () => (await coverage()).items.filter(({ count }) => count > 0).map(keyOf);

  test("counts what a merchant's calls meet, also before a reset", async () => {
    const otherMerchant = await createSandboxMerchant(server);
    await acme.refund();
    await acme.refund();
    await acme.sandbox("resetSandbox");

    const { percent, met: count, total, kinds, items } = await coverage();

    const counted = items.filter((item) => item.count > 0);
    expect(new Set(counted.map((item) => item.count))).toEqual(new Set([2]));
    expect(counted.map(keyOf)).toEqual([
      "OPERATION issueRefund",
      "STATUS issueRefund 201",
      "STATE AUTHORIZED",
    ]);
    expect([percent, count, total]).toEqual([Math.floor(300 / items.length), 3, items.length]);
    expect(kinds.find(({ kind }) => kind === "STATE")).toEqual({ kind: "STATE", met: 1, total: 3 });
    expect((await coverage({ token: otherMerchant.token })).met).toBe(0);
  });

  test("counts events that a receiver accepted, also those of faults if they obey the contract", async () => {
    let status = 500;
    await using receiver = await startReceiver((response, ...rest) =>
      status === 204 ? accept(response, ...rest) : response.writeHead(status).end(),
    );
    await acme.subscribe(receiver.url, {
      subscriptionDetails: { type: "EVENT", details: ["refund.authorized"] },
    });
    await acme.sandbox("armFault", { body: { kind: "UNKNOWN_EVENT" } });
    await acme.refund();
    await acme.delivery("PENDING", 1);
    const events = async () => (await met()).filter((key) => key.startsWith("EVENT"));
    expect(await events()).toEqual([]);

    status = 204;
    await acme.sandbox("advanceClock", { body: { by: "PT6S" } });
    await acme.delivery("DELIVERED", 2);

    expect(await events()).toEqual(["EVENT refund.authorized"]);
  });
});
