import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { refundOf } from "../../helpers/factories.ts";
import { type Connection, head, openConnection } from "../../helpers/network/raw-http.ts";
import { runServer, spawnServer } from "../../helpers/server.ts";
import { folderOfTest } from "../../helpers/suite.ts";

describe("the server's process", () => {
  test("makes its data folder, and prints a curl line that works as printed", async () => {
    const parent = await folderOfTest();
    await using server = await spawnServer({ dataDir: join(parent, "new", "data") });
    const [line = ""] = /^ *curl .*$/m.exec(server.welcome) ?? [];

    const { stdout } = await promisify(execFile)("sh", ["-c", line]);

    expect(JSON.parse(stdout)).toEqual({
      paymentId: expect.stringMatching(/^rfd_/),
      paymentStatus: "AUTHORIZED",
      clientReferenceId: null,
    });
    for (const address of server.welcome.match(/http:\S+(json|yaml|healthz|readyz)/g) ?? [])
      expect([address, (await fetch(address)).status]).toEqual([address, 200]);
  });

  test("finishes the calls under way after SIGINT, refuses new ones, and exits with 0", async () => {
    await using server = await spawnServer();
    using idle = await openConnection(server.url);
    using inFlight = await openConnection(server.url);
    const body = JSON.stringify(refundOf("pay_settled"));
    // The server has begun to read this call when it asks for the body.
    inFlight.send(head("/v1/refunds", { "Content-Length": body.length, Expect: "100-continue" }));
    expect(await inFlight.response()).toMatchObject({ status: 100 });
    idle.send(head("GET /healthz"));
    await idle.response();

    server.kill("SIGINT");
    await untilRefused(server.url);
    await idle.closed;
    // The second call arrives on the connection that is still open.
    inFlight.send(body + head("/v1/refunds", { "Content-Length": body.length }) + body);

    expect(await inFlight.response()).toMatchObject({ status: 201, body: { paymentStatus: "AUTHORIZED" } });
    expect(await inFlight.response()).toMatchObject({
      status: 503,
      headers: { "retry-after": "1", connection: "close" },
      body: { errorDetails: { errorCode: "UNAVAILABLE" } },
    });
    expect(await server.exit).toMatchObject({ code: 0, signal: null, stderr: "" });
  });

  test.each([
    ["PORT", "http"],
    ["DATA_DIR", "/dev/null"],
    // A folder in which nothing can be created, and for which the system reports that the parent is missing.
    ...(process.platform === "linux" ? [["DATA_DIR", "/proc/nowhere/data"]] : []),
  ])("ends with 1 and says which setting to change: %s=%s", async (name, value) => {
    const exit = await runServer({ PORT: "0", DATA_DIR: ":memory:", [`${name}`]: value ?? "" });

    expect(exit).toEqual({ code: 1, signal: null, stdout: "", stderr: expect.stringMatching(/^.+\n$/) });
    expect(exit.stderr).toContain(name);
  });

  test("prints a warning when other machines can reach it, and then accepts any host name", async () => {
    await using server = await spawnServer({ env: { HOST: "0.0.0.0" } });
    using caller = await openConnection(server.url.replace("0.0.0.0", "127.0.0.1"));

    caller.send(head("GET /readyz", { Host: "sandbox.example.com" }));

    expect(await caller.response()).toMatchObject({ status: 200 });
    server.kill("SIGTERM");
    expect((await server.exit).stdout).toContain("access tokens are public knowledge, and HOST=0.0.0.0");
  });
});

/** Resolves when the port is closed. */
async function untilRefused(url: string): Promise<void> {
  for (;;) {
    const connection: Connection | undefined = await openConnection(url).catch(() => undefined);
    if (!connection) return;
    connection[Symbol.dispose]();
  }
}
