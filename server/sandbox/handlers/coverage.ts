import type { Node } from "../../../openapi/document/node.ts";
import type { ContractDocument } from "../../contract/document.ts";
import type { HandlersOf } from "../../contract/operations.ts";
import { type Call, type Element, type Elements, readElements } from "./coverage-elements.ts";

/** A call with the text of its response, which may be empty, or only a part. */
export type ReceivedCall = Call & { readonly responseBody: string };

/** Counts which elements of the published contract the calls and deliveries of each merchant meet; kept in memory. */
export type Coverage = {
  handlers: HandlersOf<"getCoverage">;
  meetCall(merchant: string, call: ReceivedCall): void;
  /** @param payload of a delivery that its receiver accepted */
  meetEvent(merchant: string, payload: string): void;
};

type Counts = Map<Element, number>;

/** @param document the published contract, which is read when something is first counted */
export function createCoverage(document: ContractDocument): Coverage {
  const counts = new Map<string, Counts>();
  let read: Elements | undefined;
  const elements = () => {
    read ??= readElements(document as unknown as Node);
    return read;
  };
  const count = (merchant: string, met: Iterable<Element>) => {
    const own: Counts = counts.get(merchant) ?? new Map();
    counts.set(merchant, own);
    for (const element of met) own.set(element, (own.get(element) ?? 0) + 1);
  };

  return {
    meetCall(merchant, call) {
      count(merchant, elements().inCall({ ...call, responseBody: parse(call.responseBody) }));
    },
    meetEvent(merchant, payload) {
      count(merchant, elements().inEvent(JSON.parse(payload)));
    },
    handlers: {
      async getCoverage({ merchant }) {
        const own = counts.get(merchant);
        const items = elements().all.map((one) => ({ ...one, count: own?.get(one) ?? 0 }));
        const kinds = [...Map.groupBy(items, ({ kind }) => kind)].map(([kind, some]) => ({
          kind,
          ...sum(some),
        }));
        const { met, total } = sum(items);
        return { status: 200, body: { percent: Math.floor((100 * met) / total), met, total, kinds, items } };
      },
    },
  };
}

const sum = (items: readonly { count: number }[]) => ({
  met: items.filter(({ count }) => count > 0).length,
  total: items.length,
});

/** Undefined for a body that is missing, or of which only a part was sent. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
