import { expect, test } from "vitest";
import type { Subscription } from "../../../client/src/index.ts";
import { createDeployment } from "../../helpers/deployment.ts";
import { subscriptionTo } from "../../helpers/factories.ts";
import { post, type TestServer } from "../../helpers/server.ts";

test("subscribing again responds with the same key, at the same time and on two servers; another secret gets another key", async () => {
  await using deployment = await createDeployment();
  const servers = [await deployment.start(), await deployment.start()];
  const request = subscriptionTo("https://merchant.example.com/hooks", { secretKey: "a secret" });
  const subscribe = ({ url }: TestServer, fields = {}) =>
    post<Subscription>(url, "/v1/webhook/subscribe", { ...request, ...fields });

  const responses = await Promise.all(
    [...servers, ...servers, ...servers].map((server) => subscribe(server)),
  );
  const others = await Promise.all(servers.map((server) => subscribe(server, { secretKey: "another" })));

  expect(new Set(responses.map(({ status, body }) => `${status} ${body.subscriptionKey}`)).size).toBe(1);
  expect(others[0]?.body).toEqual(others[1]?.body);
  expect(others[0]?.body).not.toEqual(responses[0]?.body);
});
