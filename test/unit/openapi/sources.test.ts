/** Each element of the contract that cites a clause of docs/interface.md has a name, or two longer words, that the clause mentions. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isNode, walk } from "../../../openapi/document/document-node.ts";
import { valueAt } from "../../../openapi/document/pointer.ts";
import { readContract, type Source } from "../../../openapi/document/read-contract.ts";

const sections = readFileSync("docs/interface.md", "utf8").split(/^### /m).slice(1);
const clauses = new Map(sections.map((section) => [section.split(" ", 1)[0], section]));

/** Clauses about whole calls and deliveries, which don't repeat the names of the elements: the kind of element, and what they say. */
const OF_CALLS: Readonly<Record<string, readonly [element: RegExp, words: string]>> = {
  "4.7": [/\/EventCategory$|\/CategorySubscription\/properties\/details$/, "For `CATEGORY` the list holds"],
  "7.2": [/^\/paths\/.*\/post$/, "are all required"],
  "7.3": [/^\/paths\/~1v1~1refunds\/post\/requestBody$/, "fields of section 2"],
  "8.3": [/^\/paths\/~1v1~1webhook~1subscribe\/post\/requestBody$/, "fields of section 4"],
  "8.2": [/^\/paths\/.*\/post$/, "are all required"],
  "8.4": [/\/responses\/Subscribed$/, "one field `subscriptionKey`"],
  "9.1": [/\/securitySchemes\/accessToken$/, "Authorization: Bearer"],
  "9.2": [/^\/paths\/.*\/post$/, "on both operations"],
  "10.2": [/^\/webhooks\/.*\/post$/, "Notifications go to"],
  "12.4": [/\/x-waiting-period$/, "business days after settlement"],
};

const specified = [
  ...walk(readContract("openapi").document, ["example", "examples", "default", "const"]),
].flatMap(({ path, part }) => {
  const isValue = path.at(-2) === "x-enum-source";
  if (!Array.isArray(part) || !(isValue || path.at(-1) === "x-source" || path.at(-1) === "source")) return [];
  const holder = path.slice(0, isValue ? -2 : -1);
  const element = `/${holder.map((step) => step.replaceAll("/", "~1")).join("/")}`;
  const name = String(isValue ? path.at(-1) : holder.at(-1));
  return (part as Source[]).flatMap((source) =>
    source.kind === "specified" ? [{ element, name, clause: source.clause }] : [],
  );
});

test.each(specified)(
  "clause $clause of the interface specifies $name at $element",
  ({ element, name, clause }) => {
    const text = clauses.get(clause) ?? "";
    const part = valueAt(readContract("openapi").document, element);
    const about = isNode(part) ? `${part.description} ${part.when} ${part.summary} ${element}` : element;
    const shared = (about.match(/[A-Za-z]{5,}/g) ?? []).filter((word) =>
      text.toLowerCase().includes(word.toLowerCase()),
    );
    const [kind, words = ""] = OF_CALLS[clause] ?? [];

    expect(text).not.toMatch(/not\s+shown/);
    if (kind?.test(element)) expect(text).toContain(words);
    else expect(text.includes(name) || new Set(shared).size >= 2).toBe(true);
  },
);
