import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "vitest";
import { parse } from "yaml";
import { findFreePort } from "../helpers/network/local-server.ts";
import { createProjectFolder } from "./project-folder.ts";

/** What a reader's `npm test` may be: it ends when the receiver has accepted an event. */
const TESTS = `
  const { REFUNDS_SANDBOX_URL: base, RECEIVER_URL: url } = process.env;
  const headers = { Authorization: "Bearer sandbox_acme", "Content-Type": "application/json" };
  const post = (path, body) => fetch(base + path, { method: "POST", headers, body: JSON.stringify(body) });
  await post("/v1/webhook/subscribe", { url, secretKey: "a secret", subscriptionDetails: { type: "ALL" } });
  await post("/v1/refunds", { paymentId: "pay_settled", amount: { currency: "USD", value: 1 }, requestKey: "1" });
  for (let state; state !== "DELIVERED"; )
    [{ state }] = (await (await fetch(base + "/sandbox/deliveries", { headers })).json()).items;`;

test("the services of the guide's compose file start, and an event reaches the receiver", async () => {
  await using project = await createProjectFolder("");
  const [api, webhooks] = [await findFreePort(), await findFreePort()];
  const write = (name: string, text: string) => writeFile(join(project.folder, name), text);
  // Without containers, their names are this machine, and the package is that of the folder.
  const compose = (await readFile("docs/examples/compose.yaml", "utf8"))
    .replaceAll(/\bfile:\S+\.tgz/g, `@refund-contract/sandbox --port ${api}`)
    .replaceAll(/\b(sandbox|127\.0\.0\.1):3000/g, `127.0.0.1:${api}`)
    .replaceAll("receiver:4000", `127.0.0.1:${webhooks}`);
  const { sandbox, receiver, tests } = parse(compose, { merge: true }).services;
  const listen = `createServer((_, response) => response.end()).listen(${webhooks}, () => console.log("ready"))`;
  await write("receiver.mjs", `import { createServer } from "node:http"; ${listen};`);
  await write("tests.mjs", TESTS);
  await write("package.json", '{ "scripts": { "test": "node tests.mjs" } }');

  await project.start("receiver", "sh", "-c", receiver.command).untilPrinted(/ready/);
  await project.start("sandbox", "sh", "-c", sandbox.command).untilPrinted(/curl /);
  await project.run(...sandbox.healthcheck.test.slice(1));
  const environment = Object.entries(tests.environment).map(([name, value]) => `${name}=${value}`);
  await project.run("env", ...environment, "sh", "-c", tests.command);
});
