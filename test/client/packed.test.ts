import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { publint } from "publint";
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

/** Checks files of the project as strictly as TypeScript can. */
async function compile(
  files: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<string> {
  const compilerOptions = {
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
    target: "es2022",
    ...options,
  };
  await project.write("tsconfig.json", JSON.stringify({ compilerOptions, files }));
  return project.run("tsc", "--project", "tsconfig.json");
}

describe("the package", () => {
  test("holds what was built of the client and of the contract's types, and nothing else", async () => {
    const entries = await readdir(project.packageFolder, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(project.packageFolder, join(parentPath, name)));

    const built = /^dist\/client\/src\/[a-z-]+\.(js|d\.ts)$/;
    expect(files.filter((file) => !built.test(file)).sort()).toEqual([
      "LICENSE",
      "README.md",
      "dist/openapi/generated/types.d.ts",
      "dist/openapi/generated/types.js",
      "package.json",
    ]);
    expect(files).toContain("dist/client/src/index.js");
  });

  test("is found without fault by publint", async () => {
    const tarball = new Uint8Array(project.tarball).buffer;

    expect((await publint({ pack: { tarball }, strict: true })).messages).toEqual([]);
  });

  test("can be left out of a bundle where it is not used, and says where its types are", async () => {
    const manifest = JSON.parse(await readFile(join(project.packageFolder, "package.json"), "utf8"));

    expect(manifest.sideEffects).toBe(false);
    expect(Object.keys(manifest.exports["."])).toEqual(["types", "default"]);
  });
});

describe("a merchant's project", () => {
  test("calls the service from plain JavaScript", async () => {
    await project.write(
      "call.js",
      `import { createClient, UnexpectedResponseError } from "@refund-contract/client";
      const client = createClient({ baseUrl: "${server.url}", accessToken: "sandbox_acme" });
      const amount = { currency: "USD", value: 19.99 };
      const request = { paymentId: "pay_settled", amount, requestKey: "packed-1" };
      const made = await client.issueRefund(request);
      const again = await client.issueRefund(request);
      console.log(made.status, made.body.paymentStatus, again.status, again.body.existing.paymentId === made.body.paymentId);
      const page = createClient({ baseUrl: "data:text/html,", accessToken: "" });
      await page.issueRefund(request).catch((error) => console.log(error instanceof UnexpectedResponseError));`,
    );

    expect(await project.run("node", "call.js")).toBe("201 AUTHORIZED 409 true\ntrue\n");
  });

  test.each([
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ])(
    "compiles, the package's own declarations included, as %s with %s resolution",
    async (module, moduleResolution) => {
      await project.write(
        "typed.ts",
        `import { createClient, verifyWebhook } from "@refund-contract/client";
      const client = createClient({ baseUrl: "", accessToken: "" });
      const request = { paymentId: "pay_settled", amount: { currency: "USD", value: 1 } } as const;
      export async function refund(): Promise<"PENDING" | "AUTHORIZED" | "TERMINAL_FAILED" | undefined> {
        // @ts-expect-error the requestKey is missing
        await client.issueRefund(request);
        const result = await client.issueRefund({ ...request, requestKey: "k" });
        return result.status === 201 ? result.body.paymentStatus : undefined;
      }
      export function receive(body: string, headers: Headers): string | undefined {
        const event = verifyWebhook(body, headers, "s");
        return event.type === "refund.terminal_failed" ? event.data.errorDetails.errorCode : undefined;
      }`,
      );
      const options = { module, moduleResolution, lib: ["es2022", "dom"], types: [], skipLibCheck: false };

      expect(await compile(["typed.ts"], options)).toBe("");
    },
  );
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

    expect(files).toHaveLength(5);
    expect(await compile(files, { module: "nodenext", skipLibCheck: true })).toBe("");
  });

  test("has a call that works as printed, the second time as well", async () => {
    await writeExample("readme-call.ts", "switch (result.status)");

    expect(await project.run("node", "readme-call.ts")).toBe("AUTHORIZED undefined\n");
    expect(await project.run("node", "readme-call.ts")).toMatch(/^made before: rfd_/);
  });

  test("has a client with a time limit that works as printed", async () => {
    await writeExample("patient.ts", "AbortSignal.timeout");
    await project.write(
      "use-patient.js",
      `import { client } from "./patient.ts";
      const target = { url: "https://merchant.example.com/webhooks", secretKey: "s" };
      console.log((await client.subscribeToWebhooks({ ...target, subscriptionDetails: { type: "ALL" } })).status);`,
    );

    expect(await project.run("node", "use-patient.js")).toBe("200\n");
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
      expect(await receiver.nextLine()).toBe(`no concern of ours: unknown ${WEBHOOK_ID}`);
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
