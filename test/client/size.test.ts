import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { describe, expect, test } from "vitest";

const ENTRY = fileURLToPath(new URL("../../client/src/index.ts", import.meta.url));
const WEBHOOKS = fileURLToPath(new URL("../../client/src/webhooks.ts", import.meta.url));

/** What an application loads for `code`, minified, and which modules that is made of. */
async function bundle(code: string): Promise<{ code: string; moduleIds: string[] }> {
  const id = fileURLToPath(new URL("../../client/src/of-a-merchant.js", import.meta.url));
  const plugin = {
    name: "application",
    resolveId: (name: string) => (name === "application" ? id : null),
    load: (name: string) => (name === id ? code : null),
  };
  const build = await rolldown({ input: "application", plugins: [plugin], platform: "browser" });
  const { output } = await build.generate({ format: "esm", minify: true });
  return output[0];
}

/** Bytes on the wire. */
const sizeOf = async (code: string) => gzipSync((await bundle(code)).code).byteLength;

describe("the size of the client, minified and compressed", () => {
  test("with calls is at most 3 KB more than openapi-fetch has", async () => {
    const client = await sizeOf(`export { createClient } from ${JSON.stringify(ENTRY)};`);
    const fetchClient = await sizeOf(`export { default } from "openapi-fetch";`);

    expect(client - fetchClient).toBeLessThanOrEqual(3_000);
  });

  test("with verification is at most 1.5 KB more than standardwebhooks has", async () => {
    const webhooks = await sizeOf(`export { verifyWebhook } from ${JSON.stringify(WEBHOOKS)};`);
    const standard = await sizeOf(`export { Webhook } from "standardwebhooks";`);

    expect(webhooks - standard).toBeLessThanOrEqual(1_500);
  });

  test("with both is at most 11 KB, what it stands on included", async () => {
    const both = `export { createClient, verifyWebhook } from ${JSON.stringify(ENTRY)};`;

    expect(await sizeOf(both)).toBeLessThanOrEqual(11_000);
  });
});

test("the entry for receivers of webhooks loads nothing that makes calls", async () => {
  const { moduleIds } = await bundle(`export * from ${JSON.stringify(WEBHOOKS)};`);
  const names = moduleIds.map((id) => id.replace(/^.*(node_modules|client\/src)\//, ""));

  expect(names).toContain("verify-webhook.ts");
  expect(names.filter((name) => /openapi-fetch|^(call|client|retry|refunds)\.ts/.test(name))).toEqual([]);
});
