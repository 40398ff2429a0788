import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { readGenerated } from "../../../openapi/document/read-generated.ts";
import { AUTHORIZED_EVENT, SECRET_KEY, signDelivery, WEBHOOK_ID } from "../../client/signed-deliveries.ts";
import { createPackedProject, inspect } from "../../helpers/packages.ts";
import { useTestServer } from "../../helpers/server.ts";
import { forSuite } from "../../helpers/suite.ts";

const project = forSuite(() => createPackedProject(["client"]));
const server = useTestServer();

describe("the package", () => {
  test("holds what was built of the client and of the contract's types, and nothing else", async () => {
    const entries = await readdir(project.packageFolder("client"), { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(project.packageFolder("client"), join(parentPath, name)));

    const built = /^dist\/(cjs\/)?client\/src\/(webhooks\/)?[a-z-]+\.(js|js\.map|d\.ts)$/;
    expect(files.filter((file) => !built.test(file)).sort()).toEqual([
      "LICENSE",
      "README.md",
      "dist/cjs/openapi/generated/types.d.ts",
      "dist/cjs/openapi/generated/types.js",
      "dist/cjs/openapi/generated/values.d.ts",
      "dist/cjs/openapi/generated/values.js",
      "dist/cjs/package.json",
      "dist/openapi-3.0.json",
      "dist/openapi.json",
      "dist/openapi/generated/types.d.ts",
      "dist/openapi/generated/types.js",
      "dist/openapi/generated/types.js.map",
      "dist/openapi/generated/values.d.ts",
      "dist/openapi/generated/values.js",
      "dist/openapi/generated/values.js.map",
      "package.json",
    ]);
    expect(files).toContain("dist/client/src/index.js");
  });

  test("is found without fault by publint and attw", async () => {
    expect(await inspect(await project.tarball("client"))).toEqual({
      messages: [],
      problems: [],
      entrypoints: [".", "./webhooks", "./openapi.json", "./openapi-3.0.json"],
    });
  });

  test("brings the contract that it is made from, for programs to import", async () => {
    for (const name of ["openapi.json", "openapi-3.0.json"] as const) {
      const packed = await readFile(join(project.packageFolder("client"), "dist", name), "utf8");
      expect(packed).toBe(readGenerated(name));
    }
    await project.write(
      "contract.js",
      `import contract from "@refund-contract/client/openapi.json" with { type: "json" };
      console.log(Object.keys(contract.paths).join(" "));`,
    );
    expect(await project.run("node", "contract.js")).toBe("/v1/refunds /v1/webhook/subscribe\n");
  });
});

describe("the README of the package", () => {
  /** The examples, by the file name that is shown above each. */
  let examples: ReadonlyMap<string, string>;
  beforeAll(async () => {
    const readme = await readFile(join(project.packageFolder("client"), "README.md"), "utf8");
    const found = [...readme.matchAll(/```ts file=(\S+)\n([\s\S]*?)```/g)];
    examples = new Map(found.map(([, name = "", code = ""]) => [name, code]));
    // As `npm init -y` makes it.
    await project.write("package.json", '{ "name": "merchant", "main": "index.js", "type": "commonjs" }');
  });

  /** Writes an example under its shown name, at the addresses of this test. */
  async function writeExample(name: string): Promise<void> {
    const code = examples.get(name) ?? "";
    expect(code).not.toBe("");
    const listening = 'app.listen(0, "127.0.0.1", function () { console.log(this.address().port); });';
    await project.write(
      name,
      code.replace("http://127.0.0.1:3000", server.url).replace("app.listen(4000);", listening),
    );
  }

  test.each([
    ["nodenext", "nodenext"],
    ["esnext", "node10"],
  ])("has examples that compile as %s with %s resolution", async (module, moduleResolution) => {
    const files = [...examples.keys()];
    await Promise.all([...examples].map(([name, code]) => project.write(name, code)));

    expect(files).toHaveLength(5);
    expect(
      await project.compile(files, { module, moduleResolution, esModuleInterop: true, skipLibCheck: true }),
    ).toBe("");
  });

  test("has a refund that works as printed, and is refused when its requestKey is used again", async () => {
    await writeExample("refund.mts");

    expect(await project.run("node", "refund.mts")).toMatch(/^AUTHORIZED rfd_\S+\n$/);
    await expect(project.run("node", "refund.mts")).rejects.toThrow(/ProblemError: DUPLICATE_REQUEST_KEY/);
  });

  test("has an order whose refund, run again after a crash, is not made twice", async () => {
    await writeExample("order.mts");
    await project.write(
      "refund-order.mjs",
      `import { refundOrder } from "./order.mts";
      const crash = () => Promise.reject(new Error("no disk"));
      const order = { paymentId: "pay_settled", total: "1.00" };
      let stored = order;
      await refundOrder(order, crash).catch(() => console.log("nothing sent without a stored key"));
      console.log(await refundOrder(order, async (saved) => { stored = saved; }));
      console.log(await refundOrder(stored, crash));
      console.log(await refundOrder({ ...stored, total: "2.00" }, crash));`,
    );

    expect(await project.run("node", "refund-order.mjs")).toMatch(
      /^nothing sent without a stored key\nAUTHORIZED\nAUTHORIZED\nrefused: DUPLICATE_REQUEST_KEY, request [0-9a-f-]{36}\n$/,
    );
  });

  test("has a subscription that works as printed", async () => {
    await writeExample("subscribe.mts");

    await using program = project.start("subscribe.mts", { WEBHOOK_SECRET: SECRET_KEY });

    expect((await program.exit).stdout).toMatch(/^store this: sub_\S+\n$/);
  });

  test("has a receiver in Express that works as printed", async () => {
    await writeExample("receiver.mts");
    await using receiver = project.start("receiver.mts", { WEBHOOK_SECRET: SECRET_KEY });
    const [, port] = await receiver.untilPrinted(/^(\d+)\n/);
    const send = async (content: unknown) => {
      const { body, headers } = signDelivery(content, new Date());
      return fetch(`http://127.0.0.1:${port}/webhooks`, { method: "POST", body, headers });
    };
    const created = { type: "customer.created", timestamp: "", sequence: 1, data: { customerId: "cus_1" } };

    expect((await send(AUTHORIZED_EVENT)).status).toBe(204);
    expect((await send({ ...AUTHORIZED_EVENT, type: "customer.merged" })).status).toBe(204);
    expect((await send(created)).status).toBe(204);
    await receiver.untilPrinted(/no concern of ours.*\n/);
    expect((await receiver.stop()).stdout.split("\n").slice(1)).toEqual([
      `money is moving: ${AUTHORIZED_EVENT.data.paymentId}`,
      "newer than this version of the client: customer.merged",
      `no concern of ours: customer.created ${WEBHOOK_ID}`,
      "",
    ]);
  });

  test("has a function that verifies a delivery as printed", async () => {
    await writeExample("describe-delivery.mts");
    await project.write(
      "deliver.mjs",
      `import { describeDelivery } from "./describe-delivery.mts";
      const { body, headers } = JSON.parse(process.env.DELIVERY);
      console.log(describeDelivery(body, new Headers(headers)), describeDelivery(body + " ", new Headers(headers)));`,
    );
    const DELIVERY = JSON.stringify(signDelivery(AUTHORIZED_EVENT, new Date()));
    await using program = project.start("deliver.mjs", { WEBHOOK_SECRET: SECRET_KEY, DELIVERY });

    expect((await program.exit).stdout).toBe("refund.authorized 2 no-matching-signature\n");
  });
});
