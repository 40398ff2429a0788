import { describe, expect, test } from "vitest";
import { openTab } from "../../helpers/browser.ts";
import { useConsole } from "../../helpers/console-page.ts";
import { startProduction } from "../../helpers/deployment.ts";
import { serveLocally } from "../../helpers/network/local-server.ts";
import { exchange, head } from "../../helpers/network/raw-http.ts";

const SCRIPT_BYTES = 200_000;

const suite = useConsole();

describe("the page", () => {
  test("has a policy that lets nothing in, takes few bytes, and is not served in production", async () => {
    const { url } = suite.server;
    const response = await fetch(`${url}/console`);
    const html = await response.text();
    const policy = response.headers.get("content-security-policy") ?? "";
    const [, script = ""] = /src="([^"]+)"/.exec(html) ?? [];
    const loaded = await fetch(url + script);

    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(loaded.headers.get("cache-control")).toContain("immutable");
    expect(Number(loaded.headers.get("content-length"))).toBeLessThan(SCRIPT_BYTES);
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
    await using production = await startProduction();
    const started = await production.start();
    expect((await fetch(`${started.url}/console`)).status).toBe(404);
    expect((await fetch(started.url + script)).status).toBe(404);
  });

  test("can't be used by a page of another origin", async () => {
    const page = await openTab();
    await using other = await serveLocally((_request, response) =>
      response.setHeader("Content-Type", "text/html").end("<p>A page of somebody else</p>"),
    );
    await page.goto(other.url);
    const read = (url: string) =>
      page.evaluate(async (address) => {
        const headers = { Authorization: "Bearer sandbox_acme" };
        return fetch(address, { headers }).then(
          ({ status }) => `read ${status}`,
          () => "refused",
        );
      }, url);

    expect(await read(`${suite.server.url}/sandbox/payments`)).toBe("refused");
    expect(await read(`${suite.server.url}/sandbox/changes`)).toBe("refused");
    expect(await read(`${suite.server.url}/console`)).toBe("refused");
    // As after a change of what a name resolves to.
    const underAnotherName = head("GET /console", { Host: "merchant.example.com" });
    expect((await exchange(suite.server.url, underAnotherName)).status).toBe(403);
  });
});
