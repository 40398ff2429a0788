import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { rolldown } from "rolldown";

/** The client's entries, as an application imports them. */
export const ENTRY = JSON.stringify(fileURLToPath(new URL("../../client/src/index.ts", import.meta.url)));
export const WEBHOOKS = JSON.stringify(
  fileURLToPath(new URL("../../client/src/webhooks.ts", import.meta.url)),
);

/** Bundles `code` as an application would, minified, and lists the modules in the bundle. */
export async function bundle(code: string): Promise<{ code: string; moduleIds: string[] }> {
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
export async function sizeOf(code: string): Promise<{ brotli: number; gzip: number }> {
  const text = (await bundle(code)).code;
  return { brotli: brotliCompressSync(text).byteLength, gzip: gzipSync(text).byteLength };
}

/** The client with calls and verification, and the HTTP library that it uses. */
export const CLIENT = `export { createClient, verifyWebhook } from ${ENTRY};`;
export const OPENAPI_FETCH = `export { default } from "openapi-fetch";`;
