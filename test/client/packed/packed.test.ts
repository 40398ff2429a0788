import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { createPackedProject, inspect, type PackedProject } from "../../helpers/packages.ts";
import { startTestServer, type TestServer } from "../../helpers/server.ts";

let project: PackedProject;
let server: TestServer;
beforeAll(async () => {
  [project, server] = await Promise.all([createPackedProject(["client"]), startTestServer()]);
  return () => Promise.all([project.remove(), server.close()]);
});

describe("the package", () => {
  test("holds what was built of the client and of the contract's types, and nothing else", async () => {
    const entries = await readdir(project.packageFolder("client"), { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(project.packageFolder("client"), join(parentPath, name)));

    const built = /^dist\/client\/src\/(webhooks\/)?[a-z-]+\.(js|js\.map|d\.ts)$/;
    expect(files.filter((file) => !built.test(file)).sort()).toEqual([
      "LICENSE",
      "README.md",
      "dist/openapi-3.0.json",
      "dist/openapi.json",
      "dist/openapi/generated/types.d.ts",
      "dist/openapi/generated/types.js",
      "dist/openapi/generated/types.js.map",
      "package.json",
    ]);
    expect(files).toContain("dist/client/src/index.js");
  });

  test("has source maps that hold the TypeScript, which is not in the package", async () => {
    const dist = join(project.packageFolder("client"), "dist");
    const files = await readdir(dist, { recursive: true });
    const modules = files.filter((file) => file.endsWith(".js"));
    const maps = await Promise.all(modules.map((file) => readFile(join(dist, `${file}.map`), "utf8")));

    expect(modules.length).toBeGreaterThan(5);
    for (const [index, map] of maps.entries()) {
      const { sources, sourcesContent } = JSON.parse(map);
      expect(sources).toEqual([expect.stringMatching(/^\.\.\/.*\.ts$/)]);
      expect([modules[index], sourcesContent]).toEqual([modules[index], [expect.any(String)]]);
    }
  });

  test("is found without fault by publint and attw", async () => {
    expect(await inspect(await project.tarball("client"))).toEqual({
      messages: [],
      problems: [],
      entrypoints: [".", "./webhooks", "./openapi.json", "./openapi-3.0.json"],
    });
  });

  test("brings the contract that it is made from", async () => {
    const packed = await readFile(join(project.packageFolder("client"), "dist/openapi.json"), "utf8");
    const current = await readFile(
      new URL("../../../openapi/generated/openapi.json", import.meta.url),
      "utf8",
    );
    await project.write(
      "contract.js",
      `import contract from "@refund-contract/client/openapi.json" with { type: "json" };
      console.log(Object.keys(contract.paths).join(" "));`,
    );

    expect(packed).toBe(current);
    const twin = await readFile(join(project.packageFolder("client"), "dist/openapi-3.0.json"), "utf8");
    expect([JSON.parse(twin).openapi, JSON.parse(twin).info.version]).toEqual([
      "3.0.3",
      JSON.parse(current).info.version,
    ]);
    expect(await project.run("node", "contract.js")).toBe("/v1/refunds /v1/webhook/subscribe\n");
  });

  test("can be left out of a bundle where it is not used, and says where its types are", async () => {
    const manifest = JSON.parse(
      await readFile(join(project.packageFolder("client"), "package.json"), "utf8"),
    );

    expect(manifest.sideEffects).toBe(false);
    expect(Object.keys(manifest.exports["."])).toEqual(["types", "default"]);
    expect(Object.keys(manifest.exports["./webhooks"])).toEqual(["types", "default"]);
  });
});

describe("a merchant's project", () => {
  test("calls the service from plain JavaScript", async () => {
    await project.write(
      "call.js",
      `import { createClient, UnexpectedResponseError, verifyWebhook } from "@refund-contract/client";
      import * as webhooks from "@refund-contract/client/webhooks";
      const client = createClient({ baseUrl: "${server.url}", accessToken: "sandbox_acme" });
      const amount = { currency: "USD", value: 19.99 };
      const request = { paymentId: "pay_settled", amount, requestKey: "packed-1" };
      const made = await client.issueRefund(request);
      const second = await client.issueRefund(request);
      console.log(made.status, made.body.paymentStatus, second.status, second.body.existing.paymentId === made.body.paymentId);
      const refund = await client.refunds.issue({ ...request, amount: "19.99" }, { repeated: true });
      console.log(refund.paymentId === made.body.paymentId, verifyWebhook === webhooks.verifyWebhook);
      const page = createClient({ baseUrl: "data:text/html,", accessToken: "" });
      await page.issueRefund(request).catch((error) => console.log(error instanceof UnexpectedResponseError));`,
    );

    expect(await project.run("node", "call.js")).toBe("201 AUTHORIZED 409 true\ntrue true\ntrue\n");
  });

  test.each([
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
    ["esnext", "node10"],
  ])(
    "compiles, the package's own declarations included, as %s with %s resolution",
    async (module, moduleResolution) => {
      await project.write(
        "typed.ts",
        `import { createClient } from "@refund-contract/client";
      import { verifyWebhook } from "@refund-contract/client/webhooks";
      const client = createClient({ baseUrl: "", accessToken: "" });
      const request = { paymentId: "pay_settled", amount: { currency: "USD", value: 1 } } as const;
      export async function refund(): Promise<"PENDING" | "AUTHORIZED" | "TERMINAL_FAILED" | undefined> {
        // @ts-expect-error the requestKey is missing
        await client.issueRefund(request);
        const refund = await client.refunds.issue({ ...request, amount: "1.00", requestKey: "k" });
        if (refund.paymentStatus === "TERMINAL_FAILED") console.log(refund.errorDetails.errorCode);
        const result = await client.issueRefund({ ...request, requestKey: "k" });
        return result.status === 201 ? result.body.paymentStatus : undefined;
      }
      export function receive(body: string, headers: Headers): string | undefined {
        const event = verifyWebhook(body, headers, "s");
        return event.type === "refund.terminal_failed" ? event.data.errorDetails.errorCode : undefined;
      }`,
      );
      const options = { module, moduleResolution, lib: ["es2022", "dom"], types: [], skipLibCheck: false };

      expect(await project.compile(["typed.ts"], options)).toBe("");
    },
  );
});
