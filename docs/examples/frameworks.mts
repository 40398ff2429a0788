import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";

type Receive = (request: IncomingMessage, response: ServerResponse) => unknown;
type Respond = (request: Request) => Promise<Response>;
type GatewayEvent = { headers: Record<string, string>; body: string; isBase64Encoded: boolean };

/** A plug-in for Fastify, in which its own parsers give way to one that leaves the body unread; other routes keep them. */
export const onFastify = (receive: Receive) => async (app: FastifyInstance) => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.post("/webhooks", (request, reply) => {
    reply.hijack();
    receive(request.raw, reply.raw);
  });
};

/** A gateway encodes some bodies. */
export const onLambda = (respond: Respond) => async (event: GatewayEvent) => {
  const body = Buffer.from(event.body, event.isBase64Encoded ? "base64" : "utf8");
  const request = new Request("https://lambda.invalid", { method: "POST", headers: event.headers, body });
  const response = await respond(request);
  return { statusCode: response.status, body: await response.text() };
};
