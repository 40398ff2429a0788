import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../helpers/server.ts";
import { AUTHORIZED_EVENT, givenDelivery, SECRET_KEY, WEBHOOK_ID } from "./given.ts";
import { createPackedProject, type PackedProject } from "./packed-project.ts";

let project: PackedProject;
let server: TestServer;
beforeAll(async () => {
  [project, server] = await Promise.all([createPackedProject(), startTestServer()]);
  return () => Promise.all([project.remove(), server.close()]);
});

describe("the README of the package", () => {
  let examples: readonly string[];
  beforeAll(async () => {
    const readme = await readFile(join(project.packageFolder, "README.md"), "utf8");
    examples = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = ""]) => code);
  });

  /** Writes the one example that has a text, at the addresses of this test. */
  async function writeExample(name: string, text: string): Promise<void> {
    const [code = "", ...others] = examples.filter((example) => example.includes(text));
    expect(others).toEqual([]);
    const listening = 'app.listen(0, "127.0.0.1", function () { console.log(this.address().port); });';
    await project.write(
      name,
      code.replace("http://127.0.0.1:3000", server.url).replace("app.listen(4000);", listening),
    );
  }

  test("has examples that compile", async () => {
    const files = examples.map((_, index) => `example-${index}.ts`);
    await Promise.all(examples.map((code, index) => project.write(`example-${index}.ts`, code)));

    expect(files).toHaveLength(9);
    expect(await project.compile(files, { module: "nodenext", skipLibCheck: true })).toBe("");
  });

  test("has a refund that works as printed, but for a key that was used", async () => {
    await writeExample("readme-refund.ts", 'requestKey: "refund-1042-1"');

    expect(await project.run("node", "readme-refund.ts")).toMatch(/^AUTHORIZED rfd_\S+\n$/);
    await expect(project.run("node", "readme-refund.ts")).rejects.toThrow(
      /ProblemError: DUPLICATE_REQUEST_KEY/,
    );
  });

  test("has an order whose refund, run again after a crash, is not made twice", async () => {
    await writeExample("order.ts", "interface Order");
    await project.write(
      "refund-order.js",
      `import { refundOrder } from "./order.ts";
      const crash = () => Promise.reject(new Error("no disk"));
      const order = { paymentId: "pay_settled", total: "1.00" };
      let stored = order;
      await refundOrder(order, crash).catch(() => console.log("nothing sent without a stored key"));
      console.log(await refundOrder(order, async (saved) => { stored = saved; }));
      console.log(await refundOrder(stored, crash));
      console.log(await refundOrder({ ...stored, total: "2.00" }, crash));`,
    );

    expect(await project.run("node", "refund-order.js")).toMatch(
      /^nothing sent without a stored key\nAUTHORIZED\nAUTHORIZED\nrefused: DUPLICATE_REQUEST_KEY, request [0-9a-f-]{36}\n$/,
    );
  });

  test("has one request that works as printed, the second time as well", async () => {
    await writeExample("readme-call.ts", "switch (result.status)");

    expect(await project.run("node", "readme-call.ts")).toBe("AUTHORIZED undefined\n");
    expect(await project.run("node", "readme-call.ts")).toMatch(/^made before: rfd_/);
  });

  test("has a client that tells of each request, and a subscription, that work as printed", async () => {
    await writeExample("telling.ts", "onAttempt");
    await writeExample("subscribe.ts", "client.webhooks.subscribe");
    await project.write(
      "use-telling.js",
      `import { client } from "./telling.ts";
      await client.refunds.issue({ paymentId: "pay_recent", amount: 1, requestKey: "telling-1" });
      process.env.WEBHOOK_SECRET = "${SECRET_KEY}";
      await import("./subscribe.ts");`,
    );

    expect(await project.run("node", "use-telling.js")).toMatch(
      /^issueRefund 1 201 \d+ undefined undefined\nstore this: sub_\S+\n$/,
    );
  });

  test("has a test of a receiver that works as printed", async () => {
    await writeExample("receiver-test.ts", "signWebhook");

    expect(await project.run("node", "receiver-test.ts")).toBe("heard refund.authorized\n204\n");
  });

  test("has a receiver in Express that works as printed", async () => {
    await writeExample("receiver.ts", "express()");
    const receiver = project.start("receiver.ts", { WEBHOOK_SECRET: SECRET_KEY });
    try {
      const url = `http://127.0.0.1:${await receiver.nextLine()}/webhooks`;
      const send = async (content: unknown) => {
        const { body, headers } = givenDelivery(content, new Date());
        return fetch(url, { method: "POST", body, headers });
      };

      expect((await send(AUTHORIZED_EVENT)).status).toBe(204);
      expect(await receiver.nextLine()).toBe(`money is moving: ${AUTHORIZED_EVENT.data.paymentId}`);
      expect((await send({ ...AUTHORIZED_EVENT, type: "customer.merged" })).status).toBe(204);
      expect(await receiver.nextLine()).toBe("newer than this version of the client: customer.merged");
      const created = { type: "customer.created", timestamp: "", sequence: 1, data: { customerId: "cus_1" } };
      expect((await send(created)).status).toBe(204);
      expect(await receiver.nextLine()).toBe(`no concern of ours: customer.created ${WEBHOOK_ID}`);
    } finally {
      await receiver.stop();
    }
  });

  test("has a receiver with the Fetch API, and one of one's own, that work as printed", async () => {
    await writeExample("route.ts", "export const POST");
    await writeExample("describe.ts", "export function describeDelivery");
    await project.write(
      "deliver.js",
      `import { POST } from "./route.ts";
      import { describeDelivery } from "./describe.ts";
      const { body, headers } = JSON.parse(process.env.DELIVERY);
      console.log((await POST(new Request("http://127.0.0.1/", { method: "POST", body, headers }))).status);
      console.log(describeDelivery(body, new Headers(headers)), describeDelivery(body + " ", new Headers(headers)));`,
    );
    const DELIVERY = JSON.stringify(givenDelivery(AUTHORIZED_EVENT, new Date()));
    const program = project.start("deliver.js", { WEBHOOK_SECRET: SECRET_KEY, DELIVERY });

    expect([await program.nextLine(), await program.nextLine(), await program.nextLine()]).toEqual([
      "refund.authorized 2",
      "204",
      "refund.authorized 2 no-matching-signature",
    ]);
    await program.stop();
  });
});
