import { describe, expect, test } from "vitest";
import { createSiteRendering, readSite } from "../../../scripts/docs/rendering.ts";
import { createSearch } from "../../../scripts/docs/search/search.ts";
import { listEntries } from "../../../scripts/docs/search/search-entries.ts";

const site = await readSite();
const search = createSearch(listEntries(site, createSiteRendering(site)));

/** Readers' queries, and the page or heading that must come first. */
const QUERIES: readonly (readonly [query: string, url: string])[] = [
  ["statuses of a refund call", "refunds-step-by-step.html#3-read-the-response"],
  ["python webhook", "receiving-webhooks.html#without-a-library"],
  ["clientRefefenceId", "refunds-step-by-step.html#common-mistakes"],
  ["7.4", "interface.html#7.4"],
  ["conformance kit on my own server", "conformance-kit.html"],
  ["weekend", "glossary.html#business-day"],
  ["chargeback", "glossary.html#chargeback"],
  ["postman", "testing-with-the-sandbox.html#postman-bruno-and-insomnia"],
  ["where do deliveries come from", "receiving-webhooks.html#behind-a-firewall"],
  ["why is my webhook signature wrong", "receiving-webhooks.html#when-something-is-wrong"],
  ["IP allowlist", "receiving-webhooks.html#behind-a-firewall"],
  ["first refund", "start.html"],
  ["partial refund", "refunds-step-by-step.html#6-refund-in-parts"],
  ["idempotency", "refunds-step-by-step.html#1-make-the-requestkey-first"],
  ["requestKey", "refunds-step-by-step.html#1-make-the-requestkey-first"],
  ["retry", "refunds-step-by-step.html"],
  ["cancel", "states.html"],
  ["when is it authorized", "states.html"],
  ["signature", "receiving-webhooks.html"],
  ["test card", "sandbox-records.html"],
  ["pay_recent", "sandbox-records.html"],
  ["time travel", "testing-with-the-sandbox.html#moving-the-clock"],
  ["failing receiver", "testing-with-the-sandbox.html#seeing-deliveries"],
  ["409", "problems.html#duplicate_request_key"],
  ["DUPLICATE_REQUEST_KEY", "problems.html#duplicate_request_key"],
  ["unsubscribe", "decisions.html#d26"],
  ["last release", "changelog.html"],
  ["breaking change", "versioning.html"],
  ["go live", "going-live.html"],
  ["jwt", "going-live.html#access-tokens"],
  ["rotate key", "runbook.html#change-the-encryption-key"],
  ["npm client", "client.html"],
  ["mock", "contract-tests-with-prism.html"],
  ["softDescriptor", "reference.html#/refunds/issuerefund"],
  ["advance the clock", "testing-with-the-sandbox.html#moving-the-clock"],
];

describe("the search", () => {
  test.each(QUERIES)("finds first for %j: %s", (query, url) => {
    const [first] = search(query).hits;

    const isPage = !url.includes("#") || url.includes("#/");
    expect(isPage ? first?.url.split(/#(?!\/)/)[0] : first?.url).toBe(url);
  });

  test("names each page once, with a short fact in the excerpt", () => {
    const { hits } = search("rate limits");

    expect(hits.map(({ page }) => page)).toEqual([...new Set(hits.map(({ page }) => page))]);
    expect(hits[0]?.excerpt).toContain("100 calls a second");
  });

  test("says which words it found nowhere, and names the nearest page", () => {
    expect(search("xylophone")).toMatchObject({ missing: ["xylophone"], hits: [{ url: "glossary.html" }] });
    expect(search("retry xylophone").missing).toEqual(["xylophone"]);
    expect(search("retry xylophone").hits[0]?.page).toBe("Refunds");
    expect(search("the webhooks")).toMatchObject({ missing: [] });
  });
});
