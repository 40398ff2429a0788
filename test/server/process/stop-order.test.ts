import { expect, test } from "vitest";
import { startTestServer } from "../../helpers/server.ts";

const headers = { Authorization: "Bearer sandbox_acme", Accept: "text/event-stream" };

test("a stop ends open streams before it waits for requests", async () => {
  const server = await startTestServer({ drainMs: 1_000 });
  const stream = await fetch(`${server.url}/sandbox/changes`, { headers });

  await server.close();

  // `text()` rejects if the connection was cut.
  expect(await stream.text()).toContain("topics");
});
