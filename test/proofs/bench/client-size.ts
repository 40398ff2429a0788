import { CLIENT, OPENAPI_FETCH, sizeOf } from "../../client/bundle.ts";
import { single } from "./lib/compare.ts";
import { bench } from "./lib/frame.ts";

/* The size of the client in an application, minified and compressed, without the HTTP library that it uses. */
await bench(async () => {
  const [client, library] = [await sizeOf(CLIENT), await sizeOf(OPENAPI_FETCH)];
  const brotli = single("client over openapi-fetch, brotli", "KB", [(client.brotli - library.brotli) / 1000]);
  const gzip = single("client over openapi-fetch, gzip", "KB", [(client.gzip - library.gzip) / 1000], 6);
  return { figures: [brotli, gzip] };
});
