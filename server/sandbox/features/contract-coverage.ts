import { members, type Node } from "../../../openapi/document/document-node.ts";
import { operationsOf } from "../../../openapi/document/list-operations.ts";
import type { ContractDocument, SandboxSchemas } from "../../contract/contract-document.ts";
import type { HandlersOf } from "../../contract/operation-types.ts";
import type { WatchedCall } from "./bad-day.ts";

/** Counts which elements of a contract the calls and deliveries of each merchant meet; kept in memory. */
export function createCoverage(document: ContractDocument) {
  /** By merchant, kind and name. */
  const counts = new Map<string, number>();
  const count = (merchant: string, met: readonly Element[]) => {
    for (const key of new Set(met.map(({ kind, name }) => `${merchant} ${kind} ${name}`)))
      counts.set(key, (counts.get(key) ?? 0) + 1);
  };
  const read = (merchant: string): SandboxSchemas["Coverage"] => {
    const items = readElements(document as unknown as Node).map(({ kind, name }) => {
      return { kind, name, count: counts.get(`${merchant} ${kind} ${name}`) ?? 0 };
    });
    const byKind = [...Map.groupBy(items, ({ kind }) => kind)];
    const kinds = byKind.map(([kind, elements]) => ({ kind, ...sum(elements) }));
    const { met, total } = sum(items);
    return { percent: Math.floor((100 * met) / total), met, total, kinds, items };
  };
  return {
    /** A call without a response counts for nothing. */
    recordCall(merchant: string, { operation, status, responseBody }: MetCall) {
      if (status === null) return;
      const element = { kind: "STATUS", name: `${operation} ${status}` } as const;
      count(merchant, [{ kind: "OPERATION", name: operation }, element, ...valuesIn(responseBody ?? "")]);
    },
    /** @param payload of a delivery that its receiver accepted */
    recordEvent(merchant: string, payload: string) {
      count(merchant, [{ kind: "EVENT", name: JSON.parse(payload).type }, ...valuesIn(payload)]);
    },
    read,
    handlers: {
      getCoverage: async ({ merchant }) => ({ status: 200, body: read(merchant) }),
    } satisfies HandlersOf<"getCoverage">,
  };
}

type Element = Pick<SandboxSchemas["CoverageItem"], "kind" | "name">;
type MetCall = Pick<WatchedCall, "operation" | "status" | "responseBody">;

/** The elements of a document: it names each of them, so there is no other list. */
function readElements(document: Node): Element[] {
  const operations = operationsOf(document, ["paths"]).map(({ operation }) => operation);
  // Codes without an example belong to no operation, such as that of an unknown path.
  const values = valuesIn(JSON.stringify((document.components as Node).examples));
  const unique = new Map(values.map((value) => [value.name, value]));
  return [
    ...operations.map(({ operationId }): Element => ({ kind: "OPERATION", name: String(operationId) })),
    ...operations.flatMap(({ operationId, responses }) =>
      members(responses).map(([status]): Element => ({ kind: "STATUS", name: `${operationId} ${status}` })),
    ),
    ...members(document.webhooks).map(([name]): Element => ({ kind: "EVENT", name })),
    ...[...unique.values()].toSorted((a, b) => a.kind.localeCompare(b.kind)),
  ];
}

/** The error codes and the statuses of refunds in a JSON text. */
function valuesIn(text: string): Element[] {
  return [...text.matchAll(/"(errorCode|paymentStatus)":"(\w+)"/g)].map(([, member, name = ""]) => {
    return { kind: member === "errorCode" ? "ERROR_CODE" : "STATE", name };
  });
}

const sum = (items: readonly { count: number }[]) => ({
  met: items.filter(({ count }) => count > 0).length,
  total: items.length,
});
