import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "vitest";
import { installTools } from "../helpers/process.ts";
import { createProjectFolder } from "./project-folder.ts";

const FRAMEWORKS = [
  ...["common", "core", "platform-express"].map((name) => `@nestjs/${name}@12.5.1`),
  ...["reflect-metadata@0.2.2", "rxjs@7.8.2", "next@16.4.6", "react@19.3.1", "react-dom@19.3.1"],
];

/** The guide's receivers in a controller of Nest, without its decorators' syntax, and in a route of Next.js. */
const RECEIVERS = `import "reflect-metadata";
import { expressWebhookHandler, fetchWebhookHandler, signWebhook } from "@refund-contract/client";
import { Controller, Module, Post, Req, Res } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { NextRequest } from "next/server.js";

const options = { secretKey: "a secret of these receivers", onEvent() {}, onError() {} };
const receive = expressWebhookHandler(options);
class Webhooks {
  receive(request, response) {
    return receive(request, response);
  }
}
Controller()(Webhooks);
Post("webhooks")(Webhooks.prototype, "receive", Object.getOwnPropertyDescriptor(Webhooks.prototype, "receive"));
Req()(Webhooks.prototype, "receive", 0);
Res()(Webhooks.prototype, "receive", 1);
class AppModule {}
Module({ controllers: [Webhooks] })(AppModule);
const nest = await NestFactory.create(AppModule, { rawBody: true, logger: false });
await nest.listen(0, "127.0.0.1");
const url = (await nest.getUrl()) + "/webhooks";
const POST = fetchWebhookHandler(options);

const { body, headers } = signWebhook(
  { type: "account.linked", timestamp: new Date().toISOString(), sequence: 1, data: { accountId: "né" } }, options.secretKey);
for (const sent of [body, body + " "]) {
  const delivery = { method: "POST", headers, body: sent };
  for (const { status } of [await fetch(url, delivery), await POST(new NextRequest(url, delivery))])
    if (status !== (sent === body ? 204 : 400)) throw new Error("a receiver responded " + status);
}
await nest.close();
`;

test("the guide's receivers accept and refuse deliveries in Nest and in Next.js", {
  timeout: 240_000,
}, async () => {
  await using project = await createProjectFolder("");
  const own = join(project.folder, "receivers");
  await mkdir(own);
  // Their packages are found there, and the client in the project around it.
  await symlink(await installTools("frameworks", FRAMEWORKS), join(own, "node_modules"));
  await writeFile(join(own, "receivers.mjs"), RECEIVERS);

  await project.run("node", join(own, "receivers.mjs"));
});
