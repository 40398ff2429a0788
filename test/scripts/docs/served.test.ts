import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { startProduction } from "../../helpers/deployment.ts";
import { startTestServer, useTestServer } from "../../helpers/server.ts";
import { DIST, readBuilt } from "../../helpers/site.ts";
import { forSuite } from "../../helpers/suite.ts";

const server = useTestServer();

/** The address with which the docs and the contract are written. */
const WRITTEN = "http://127.0.0.1:3000";

const production = forSuite(() => startProduction());
const ofProduction = forSuite(() => production.start());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(server.url + path, { headers, redirect: "manual" });

describe("the server", () => {
  test("leads from / and /docs to the docs, and from a page's name to the page; tells a program that / is nothing", async () => {
    const page = "text/html,application/xhtml+xml,*/*;q=0.8";
    const locations = ["/", "/docs", "/docs/start"].map(async (path) => {
      const response = await get(path, { Accept: page });
      return [response.status, response.headers.get("location")];
    });

    expect(await Promise.all(locations)).toEqual([
      [303, "/docs/"],
      [308, "/docs/"],
      [308, "start.html"],
    ]);
    for (const Accept of ["application/json", "*/*"]) expect((await get("/", { Accept })).status).toBe(404);
  });

  test("serves no docs where SERVE_DOCS says so, but still the contract", async () => {
    await using other = await startTestServer({ env: { SERVE_DOCS: "false" } });
    const statuses = ["/", "/docs", "/docs/", "/docs/start.md", "/openapi.json"].map(async (path) => {
      const response = await fetch(other.url + path, {
        headers: { Accept: "text/html" },
        redirect: "manual",
      });
      return response.status;
    });
    expect(await Promise.all(statuses)).toEqual([404, 404, 404, 404, 200]);
  });

  test("of a sandbox names the address at which it is read, in pages, texts and the contract", async () => {
    const localhost = server.url.replace("127.0.0.1", "localhost");
    for (const url of [server.url, localhost]) {
      for (const path of [
        "/docs/",
        "/docs/reference.html",
        "/docs/start.md",
        "/docs/versioning.html",
        "/docs/search.js",
        "/openapi.yaml",
      ]) {
        const served = await (await fetch(url + path)).text();
        expect(served).toContain(url);
        expect(served).not.toMatch(/(127\.0\.0\.1|localhost):3000/);
      }
      const contract = (await (await fetch(`${url}/docs/openapi-3.0.json`)).json()) as { servers: object[] };
      expect(contract.servers).toMatchObject([{ url }]);
    }
  });

  test("of a sandbox sends pages as gzip", async () => {
    const response = await get("/docs/reference.html", { "Accept-Encoding": "gzip" });

    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(response.headers.get("vary")).toContain("Accept-Encoding");
    const length = Buffer.byteLength(await response.text());
    expect(Number(response.headers.get("content-length"))).toBeLessThan(length / 3);
  });

  test("of a sandbox that others reach takes nothing but a host from the Host header", async () => {
    await using open = await startTestServer({ env: { HOST: "0.0.0.0" } });
    const textFor = async (host: string) => {
      const [response] = await once(request(`${open.url}/docs/`, { headers: { host } }).end(), "response");
      return text(response);
    };

    expect(await textFor("sandbox.example.com:8080")).toContain("http://sandbox.example.com:8080/v1/refunds");
    expect(await textFor('"><script>alert(1)</script>')).toContain(`${WRITTEN}/v1/refunds`);
  });

  test("of production has neither the console's link nor the script that sends samples, nor has a published site", async () => {
    const names = ["index.html", "reference.html", "start.html"];
    for (const name of names) {
      const served = await (await fetch(`${ofProduction.url}/docs/${name}`)).text();

      expect(served).toBe((await readBuilt(name)).toString());
      expect(served).not.toMatch(/href="\/console|\/console\/try-it/);
      expect(await (await get(`/docs/${name}`)).text()).toContain('href="/console"');
    }
    expect(await (await get("/docs/reference.html")).text()).toContain('src="/console/try-it-');
    expect((await readdir(DIST)).filter((name) => name.includes("try"))).toEqual([]);
  });

  test.each(["br", "gzip", "identity"])(
    "of production serves the front page as %s under a policy that lets nothing in",
    async (encoding) => {
      const response = await fetch(`${ofProduction.url}/docs/`, { headers: { "Accept-Encoding": encoding } });

      expect(response.status).toBe(200);
      expect(response.headers.get("content-encoding")).toBe(encoding === "identity" ? null : encoding);
      expect(Buffer.from(await response.arrayBuffer()).equals(await readBuilt("index.html"))).toBe(true);
      const policy = response.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).toMatch(/script-src 'self' ('sha256-[^']+' ?)+;/);
      expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe-inline/);
    },
  );

  test.each([
    ["text/markdown", "text/markdown; charset=utf-8"],
    ["text/markdown, text/html;q=0.5", "text/markdown; charset=utf-8"],
    ["text/html, text/markdown;q=0.9", "text/html; charset=utf-8"],
    ["text/html,application/xhtml+xml,*/*;q=0.8", "text/html; charset=utf-8"],
    ["*/*", "text/html; charset=utf-8"],
  ])("serves a page to who accepts %s as %s, and says that it depends on that", async (Accept, type) => {
    for (const { url } of [server, ofProduction]) {
      for (const [path, text] of [
        ["/docs/start.html", "start.md"],
        ["/docs/", "llms.txt"],
      ] as const) {
        const response = await fetch(url + path, { headers: { Accept } });

        expect([response.status, response.headers.get("content-type")]).toEqual([200, type]);
        expect(response.headers.get("vary")).toMatch(/^Accept(,|$)/);
        const markdown = (await readBuilt(text))
          .toString()
          .replaceAll(WRITTEN, url === server.url ? url : WRITTEN);
        if (type.startsWith("text/markdown")) expect(await response.text()).toBe(markdown);
        else expect(await response.text()).toContain("<html");
      }
    }
  });

  test("serves plain text beside it as what every browser shows", async () => {
    for (const name of ["llms.txt", "reference.md", "decisions.md"]) {
      const response = await get(`/docs/${name}`);
      expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
      const written = (await readBuilt(name)).toString();
      expect(await response.text()).toBe(written.replaceAll(WRITTEN, server.url));
    }
    expect((await get("/docs/states.svg")).headers.get("content-type")).toBe("image/svg+xml");
  });

  test("serves problems and decisions as JSON", async () => {
    const [problems, decisions] = await Promise.all(
      ["problems", "decisions"].map(async (name) => (await get(`/docs/${name}.json`)).json()),
    );

    expect(problems).toContainEqual({
      errorCode: "RATE_LIMITED",
      kind: "Problems of a call",
      status: 429,
      type: "urn:problem:rate-limited",
      operations: ["issueRefund", "subscribeToWebhooks"],
      cause: expect.any(String),
      remedy: expect.stringContaining("`Retry-After`"),
    });
    expect(decisions).toContainEqual({
      id: "D05",
      title: "Status codes of success",
      question: "the status code of a successful call",
      decision: expect.stringContaining("201"),
      since: "1.0.0",
      anchor: "d05-status-codes-of-success",
      text: expect.stringContaining("**Decided:**"),
    });
  });

  test("shows people a page where there is none, and gives programs a problem", async () => {
    const people = "text/html,application/xhtml+xml,*/*;q=0.8";
    for (const { url } of [server, ofProduction]) {
      const got = async (path: string, Accept: string) => {
        const response = await fetch(url + path, { headers: { Accept }, redirect: "manual" });
        const [type] = (response.headers.get("content-type") ?? "").split(";");
        return [response.status, response.headers.get("location") ?? type];
      };

      expect(await got("/docs/nothing", people)).toEqual([404, "text/html"]);
      expect(await got("/docs/404.html", people)).toEqual([404, "text/html"]);
      expect(await got("/docs/guides/start.md", people)).toEqual([303, "/docs/start.md"]);
      for (const Accept of ["application/json", "*/*"]) {
        expect(await got("/docs/nothing", Accept)).toEqual([404, expect.stringContaining("json")]);
        expect(await got("/docs/guides/start.md", Accept)).toEqual([404, expect.stringContaining("json")]);
      }
    }
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
