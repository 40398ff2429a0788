import { describe, expect, test } from "vitest";
import { type InvalidRequest, subscriptionTo } from "../../helpers/factories.ts";
import { post, useTestServer } from "../../helpers/server.ts";

describe("POST /v1/webhook/subscribe", () => {
  const server = useTestServer();

  test.each([
    "https:/a.example",
    "https:////a.example/",
    "https:\\\\a.example",
    "https://:@a.example/",
    " https://a.example",
  ])("refuses the url %s", async (url) => {
    const request = subscriptionTo(url);
    const { body } = await post<InvalidRequest>(server.url, "/v1/webhook/subscribe", request);

    expect(body.violations).toEqual([{ pointer: "/url", message: expect.stringMatching(/^must be /) }]);
  });
});
