import { CLIENT, OPENAPI_FETCH, sizeOf } from "../../client/bundle.ts";
import { record, single } from "./lib/compare.ts";

/* The size of the client in an application, minified and compressed, without the HTTP library that it uses. */
const client = await sizeOf(CLIENT);
const fetchClient = await sizeOf(OPENAPI_FETCH);
const kilobytes = (bytes: number) => bytes / 1000;

await record("client-size", [
  single(
    "client over openapi-fetch, brotli",
    "KB",
    [kilobytes(client.brotli - fetchClient.brotli)],
    undefined,
  ),
  single("client over openapi-fetch, gzip", "KB", [kilobytes(client.gzip - fetchClient.gzip)], 6),
]);
