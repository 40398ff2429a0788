import { readdir } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../helpers/server.ts";
import { readBuilt } from "./given.ts";

let server: TestServer;
beforeAll(async () => {
  await readBuilt("index.html");
  server = await startTestServer();
  return () => server.close();
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(server.url + path, { headers, redirect: "manual" });

describe("the server", () => {
  test("leads from /docs to the page, so that links beside it work", async () => {
    const response = await get("/docs");

    expect([response.status, response.headers.get("location")]).toEqual([308, "/docs/"]);
  });

  test.each(["br", "gzip", "identity"])(
    "serves the page as %s under a policy that lets nothing in",
    async (encoding) => {
      const response = await get("/docs/", { "Accept-Encoding": encoding });

      expect(response.status).toBe(200);
      expect(response.headers.get("content-encoding")).toBe(encoding === "identity" ? null : encoding);
      expect(Buffer.from(await response.arrayBuffer()).equals(await readBuilt("index.html"))).toBe(true);
      const policy = response.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).toMatch(/script-src ('sha256-[^']+' ?)+;/);
      expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe-inline/);
    },
  );

  test("serves each file of plain text beside it as what every browser shows", async () => {
    const names = (await readdir(new URL("../../docs/dist/", import.meta.url))).filter((name) =>
      /\.(md|txt)$/.test(name),
    );
    expect(names).toEqual(expect.arrayContaining(["llms.txt", "reference.md", "start.md", "decisions.md"]));
    for (const name of names) {
      const response = await get(`/docs/${name}`);
      expect([response.status, response.headers.get("content-type")]).toEqual([
        200,
        "text/plain; charset=utf-8",
      ]);
      expect(await response.text()).toBe((await readBuilt(name)).toString());
    }
    expect((await get("/docs/states.svg")).headers.get("content-type")).toBe("image/svg+xml");
  });

  test.each([
    "/docs/sources.sha256",
    "/docs/index.html.br",
    "/docs/../package.json",
    "/docs/%2e%2e/package.json",
    "/docs/nothing.md",
  ])("serves nothing else: %s", async (path) => {
    expect((await get(path)).status).toBe(404);
  });
});
