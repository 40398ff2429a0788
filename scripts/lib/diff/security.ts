import type { Finding } from "./change.ts";
import type { Pair } from "./schemas.ts";
import { at, isEqual, isNode, type Node, namesIn, rootOf, type Spot } from "./spot.ts";

/** What callers must show: the ways that were enough and are not any more, and the schemes that changed. */
export function compareSecurity({ base, revision }: Pair, use: string): Finding[] {
  const [before, after] = [waysOf(base), waysOf(revision)];
  const pointer = `${revision.pointer}/security`;
  const what = `security changed from ${JSON.stringify(before)} to ${JSON.stringify(after)}`;
  const enough = (shown: Node) =>
    after.some((asked) => Object.entries(asked).every(([scheme, scopes]) => includes(shown[scheme], scopes)));
  if (before.some((shown) => !enough(shown))) return [{ pointer, use, what, level: "major" }];
  const schemes = new Set(before.flatMap((way) => Object.keys(way)));
  return [
    ...(isEqual(before, after) ? [] : [{ pointer, use, what, level: "minor" as const }]),
    ...[...schemes].flatMap((name) => compareScheme(base.document, revision.document, name, use)),
  ];
}

/** The alternatives of an operation; none at all is one that asks for nothing. */
function waysOf(operation: Spot): Node[] {
  const own = at(operation, "security").value ?? at(rootOf(operation.document), "security").value;
  const ways = Array.isArray(own) ? own.filter(isNode) : [];
  return ways.length > 0 ? ways : [{}];
}

function includes(shown: unknown, asked: unknown): boolean {
  return Array.isArray(shown) && Array.isArray(asked) && asked.every((scope) => shown.includes(scope));
}

function compareScheme(base: Node, revision: Node, name: string, use: string): Finding[] {
  const [before, after] = [base, revision].map((document) =>
    at(rootOf(document), "components", "securitySchemes", name),
  );
  if (!before || !after || after.value === undefined) return [];
  return [...new Set([...namesIn(before), ...namesIn(after)])].flatMap((field) => {
    const [old, now] = [at(before, field), at(after, field)];
    if (isEqual(old.value, now.value)) return [];
    const level = field === "description" ? "patch" : "major";
    return [{ pointer: now.pointer, use, what: `${field} of ${name} changed`, level }];
  });
}
