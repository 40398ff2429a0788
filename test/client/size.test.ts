import { describe, expect, test } from "vitest";
import { bundle, CLIENT, ENTRY, OPENAPI_FETCH, sizeOf, WEBHOOKS } from "./bundle.ts";

describe("the size of the client, minified and compressed", () => {
  test("with calls is at most 3 KB more than openapi-fetch has", async () => {
    const client = await sizeOf(`export { createClient } from ${ENTRY};`);
    const fetchClient = await sizeOf(OPENAPI_FETCH);

    expect(client.gzip - fetchClient.gzip).toBeLessThanOrEqual(3_000);
  });

  test("with calls and verification is at most 6.1 KB more than openapi-fetch has", async () => {
    const client = await sizeOf(CLIENT);
    const fetchClient = await sizeOf(OPENAPI_FETCH);

    expect(client.brotli - fetchClient.brotli).toBeLessThanOrEqual(6_100);
    expect(client.gzip - fetchClient.gzip).toBeLessThanOrEqual(7_050);
  });

  test("with verification alone is at most 4.5 KB", async () => {
    const webhooks = await sizeOf(`export { verifyWebhook } from ${WEBHOOKS};`);

    expect(webhooks.gzip).toBeLessThanOrEqual(4_500);
  });
});

test("the entry for receivers of webhooks loads nothing that makes calls", async () => {
  const { moduleIds } = await bundle(`export * from ${WEBHOOKS};`);
  const names = moduleIds.map((id) => id.replace(/^.*(node_modules|client\/src)\//, ""));

  expect(names).toContain("webhooks/verify.ts");
  expect(names.filter((name) => /openapi-fetch|^(call|client|retry|refunds)\.ts/.test(name))).toEqual([]);
});
