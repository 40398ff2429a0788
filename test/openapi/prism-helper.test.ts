import { describe, expect, test } from "vitest";
import { serveLocally } from "../helpers/network/local-server.ts";
import { createProxy } from "../helpers/prism.ts";

const Parcel = {
  type: "object",
  required: ["id", "tag"],
  properties: {
    id: { type: "string", maxLength: 8 },
    tag: { const: "PARCEL" },
    weight: { type: ["number", "null"] },
  },
  // Draft 7, which Prism uses by default, does not have this keyword.
  unevaluatedProperties: false,
};

/** A document of one operation, with two examples of its response. */
const PARCELS = {
  openapi: "3.1.1",
  info: { title: "Parcels", version: "1.0.0" },
  paths: {
    "/parcels": {
      post: {
        operationId: "sendParcel",
        security: [{ token: [] }],
        requestBody: {
          required: true,
          content: { "application/json": { schema: { $ref: "#/components/schemas/Parcel" } } },
        },
        responses: {
          201: {
            description: "Sent.",
            content: {
              "application/json": {
                schema: { $ref: "#/components/schemas/Parcel" },
                examples: {
                  Light: { value: { id: "a", tag: "PARCEL", weight: null } },
                  Heavy: { value: { id: "b", tag: "PARCEL", weight: 40.5 } },
                },
              },
            },
          },
          409: {
            description: "Sent before.",
            content: {
              "application/problem+json": {
                schema: { type: "object" },
                examples: { Again: { value: { status: 409 } } },
              },
            },
          },
        },
      },
    },
  },
  components: { schemas: { Parcel }, securitySchemes: { token: { type: "http", scheme: "bearer" } } },
};

const _AS_WRITTEN = JSON.stringify(PARCELS);

function send(url: string, { body = { id: "a", tag: "PARCEL" } as object, prefer = "", token = "t" } = {}) {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}`, Prefer: prefer };
  return fetch(`${url}/parcels`, { method: "POST", headers, body: JSON.stringify(body) });
}

/** A server that gives every call the same response. */
function startUpstream(status: number, upstreamBody: object) {
  return serveLocally((request, response) => {
    request.resume();
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(upstreamBody));
  });
}

describe("the proxy", () => {
  test("hands over a response that is as documented, and reports nothing", async () => {
    await using upstream = await startUpstream(201, { id: "c", tag: "PARCEL", weight: 1.25 });
    await using proxy = await createProxy(PARCELS, upstream.url);

    const response = await send(proxy.url);

    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({ id: "c", tag: "PARCEL", weight: 1.25 });
    expect(proxy.violations).toEqual([]);
  });

  test.each([
    {
      fault: "a field that is not documented",
      status: 201,
      upstreamBody: { id: "c", tag: "PARCEL", color: "red" },
      location: "body",
    },
    {
      fault: "a value that is too long",
      status: 201,
      upstreamBody: { id: "123456789", tag: "PARCEL" },
      location: "body.id",
    },
    { fault: "a client error that is not documented", status: 418, upstreamBody: {}, location: "" },
    { fault: "a server error that is not documented", status: 502, upstreamBody: {}, location: "" },
  ])("reports $fault in the upstream's response", async ({ status, upstreamBody, location }) => {
    await using upstream = await startUpstream(status, upstreamBody);
    await using proxy = await createProxy(PARCELS, upstream.url);

    await send(proxy.url);

    expect(proxy.violations).toContainEqual({
      call: "POST /parcels",
      side: "response",
      location,
      message: expect.any(String),
    });
  });

  test("responds by itself to a request that is not as documented", async () => {
    await using upstream = await startUpstream(201, { id: "c", tag: "PARCEL" });
    await using proxy = await createProxy(PARCELS, upstream.url);

    const response = await send(proxy.url, { body: { id: "c", tag: "LETTER" } });

    expect(response.status).toBe(422);
  });
});
