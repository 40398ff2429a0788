import { describe, expect, test } from "vitest";
import { findChanges } from "../../../openapi/diff/diff.ts";
import { findConstraints } from "../../../openapi/document/constraints.ts";
import { isNode, type Node, walk } from "../../../openapi/document/document-node.ts";
import { type Draw, toLaterDocument } from "../../../openapi/document/later-version.ts";
import { operationsOf } from "../../../openapi/document/list-operations.ts";
import { toPointer } from "../../../openapi/document/pointer.ts";
import { readContract } from "../../../openapi/document/read-contract.ts";

const { document } = readContract("openapi");

const drawWith =
  (seed: number): Draw =>
  (label) =>
    [...label].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 65_537, seed) / 65_537;

const later = toLaterDocument(document, drawWith(1));
const pointersTo = (keyword: string) =>
  [...walk(document, ["examples"])]
    .filter(({ part }) => isNode(part) && keyword in part)
    .map(({ path }) => toPointer(path));
const grown = (kind: string) =>
  later.additions.filter((one) => one.kind === kind).map(({ pointer }) => pointer);

describe("a later version of the contract", () => {
  test.each([1, 2, 3, 4, 5])("is compatible in all that is drawn from seed %d", (seed) => {
    const { document: revision, additions } = toLaterDocument(document, drawWith(seed));

    const found = findChanges(document, revision);

    expect(found.filter(({ level }) => level === "major")).toEqual([]);
    const minor = found.filter(({ level }) => level === "minor").map(({ pointer }) => pointer);
    const grows = ({ kind, pointer, name }: (typeof additions)[number]) =>
      minor.some((at) => (kind === "EVENT" ? at.endsWith(`/${name}`) : at.startsWith(`${pointer}/`)));
    expect(additions.filter((addition) => !grows(addition))).toEqual([]);
  });

  test("grows at every point of extension, and at no other", () => {
    const responses = findConstraints(document).filter(({ side }) => side === "response");
    const closed = new Set(
      responses.filter(({ keyword }) => keyword === "type").map(({ pointer }) => pointer),
    );

    expect(grown("MEMBER").toSorted()).toEqual(pointersTo("x-open").toSorted());
    expect(grown("VALUE").toSorted()).toEqual(pointersTo("x-extensible-enum").toSorted());
    expect(grown("HEADER")).toHaveLength(Object.keys(responsesOfCalls()).length);
    expect(grown("EVENT")).toEqual(
      ["refund.pending", "payment.settled", "account.linked", "customer.created"].map(
        (name) => `/webhooks/${name}`,
      ),
    );
    const writers = [...grown("MEMBER"), ...grown("REQUEST_FIELD")];
    expect(writers.filter((pointer) => closed.has(`${pointer}/type`))).toEqual([]);
    expect(grown("REQUEST_FIELD").toSorted()).toEqual(
      [
        ...["AllSubscription", "CategorySubscription", "EventSubscription"],
        ...["RefundRequest", "SubscriptionRequest"],
      ].map((name) => `/components/schemas/${name}`),
    );
  });

  test("is the same for the same draws, and another one for others", () => {
    const names = (seed: number) =>
      toLaterDocument(document, drawWith(seed)).additions.map(({ name }) => name);

    expect(names(1)).toEqual(names(1));
    expect(names(2)).not.toEqual(names(1));
  });

  test("changes only the wording of texts for people", () => {
    const marked = pointersTo("x-wording").map((pointer) => {
      const name = pointer.split("/").at(-1) ?? "";
      return name.replace(/^Problem/, "").replace(/^./, (letter) => letter.toLowerCase());
    });

    expect([...new Set(marked)].toSorted()).toEqual(["detail", "errorMessage", "message", "title"]);
  });
});

function responsesOfCalls(): Node {
  const used = operationsOf(document, ["paths"]).flatMap(({ operation }) =>
    Object.values(operation.responses as Record<string, { $ref: string }>),
  );
  return Object.fromEntries(used.map(({ $ref }) => [$ref, true]));
}
