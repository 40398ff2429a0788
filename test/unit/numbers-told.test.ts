import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { TOLERANCE_SECONDS } from "../../client/src/webhooks/verify.ts";
import { WAITING_BUSINESS_DAYS } from "../../openapi/generated/values.ts";
import { MAX_MEMBERS, MAX_NAME_LENGTH } from "../../server/contract/scan-json.ts";
import { DEFAULT_OVERLAP_MS } from "../../server/domain/secret-overlap.ts";
import { MAX_BODY_BYTES } from "../../server/http/read-body.ts";
import { SUBSCRIPTION_LIMIT } from "../../server/storage/webhooks/subscriptions.ts";

/** What merchants read, the descriptions of the contract included. */
const PAGES = globSync([
  ...["docs/*.md", "docs/guides/*.md", "client/README.md"],
  ...["openapi/{info,CHANGELOG}.md", "openapi/*.yaml", "openapi/components/*.yaml"],
]).map((file) => [file, readFileSync(file, "utf8")] as const);

const WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
const NUMBER = `(\\d+|${WORDS.join("|")})`;

test.each([
  ["N business days", WAITING_BUSINESS_DAYS],
  ["N live subscriptions", SUBSCRIPTION_LIMIT],
  ["N KiB", MAX_BODY_BYTES / 1_024],
  ["N fields and list items", MAX_MEMBERS],
  ["names of N characters", MAX_NAME_LENGTH],
  ["more than N minutes", TOLERANCE_SECONDS / 60],
  ["for N hours", DEFAULT_OVERLAP_MS / 3_600_000],
])('pages that say "%s" tell what the code has: %i', (words, expected) => {
  const sentence = new RegExp(`\\b${words.replaceAll(" ", "\\s+").replace("N", NUMBER)}`, "gi");
  const told = PAGES.flatMap(([file, text]) =>
    [...text.matchAll(sentence)].map(([said, number = ""]) => {
      const word = WORDS.indexOf(number.toLowerCase());
      return { file, said, value: word < 0 ? Number(number) : word };
    }),
  );

  expect(told.length).toBeGreaterThan(0);
  expect(told.filter(({ value }) => value !== expected)).toEqual([]);
});
