import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { describe, expect, test } from "vitest";
import { OPERATIONS } from "../../openapi/generated/values.ts";

/** The client's entries, as an application imports them. */
const entry = (name: string) =>
  JSON.stringify(fileURLToPath(new URL(`../../client/src/${name}.ts`, import.meta.url)));
const [CLIENT, WEBHOOKS] = [entry("index"), entry("webhooks")];

/** Bundles `code` as an application would, minified, and lists the modules in the bundle. */
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

/** Bytes on the wire, by both compressions that servers offer. */
async function sizeOf(code: string): Promise<{ brotli: number; gzip: number }> {
  const text = (await bundle(code)).code;
  return { brotli: brotliCompressSync(text).byteLength, gzip: gzipSync(text).byteLength };
}

describe("the size of the client, minified and compressed", () => {
  test("is at most 2,990 bytes more than openapi-fetch has and 40 for each operation, and 6.4 KB with verification", async () => {
    const calls = await sizeOf(`export { createClient } from ${CLIENT};`);
    const both = await sizeOf(`export { createClient, verifyWebhook } from ${CLIENT};`);
    const fetchClient = await sizeOf(`export { default } from "openapi-fetch";`);

    expect(calls.gzip - fetchClient.gzip).toBeLessThanOrEqual(2_990 + 40 * Object.keys(OPERATIONS).length);
    expect(both.brotli - fetchClient.brotli).toBeLessThanOrEqual(6_400);
    expect(both.gzip - fetchClient.gzip).toBeLessThanOrEqual(7_400);
  });

  test("with verification alone is at most 4.5 KB", async () => {
    expect((await sizeOf(`export { verifyWebhook } from ${WEBHOOKS};`)).gzip).toBeLessThanOrEqual(4_500);
  });
});

test("the entry for receivers of webhooks loads nothing that makes calls", async () => {
  const { moduleIds } = await bundle(`export * from ${WEBHOOKS};`);
  const names = moduleIds.map((id) => id.replace(/^.*(node_modules|client\/src)\//, ""));

  expect(names).toContain("webhooks/verify.ts");
  expect(names.filter((name) => /openapi-fetch|^(call|client|retry|refunds)\.ts/.test(name))).toEqual([]);
});
