import { isDeepStrictEqual } from "node:util";
import type { OperationId } from "../../../client/src/index.ts";
import { isNode, type Node } from "../../../openapi/document/document-node.ts";
import type { Contract, Example, Operation } from "../../../openapi/document/read-contract.ts";
import type { Exchange } from "../../reporting/exchange.ts";
import { assert, bodyOf } from "../assertions.ts";
import type { Kit } from "../kit.ts";
import { PAYMENT_KINDS, type PaymentKind } from "../options.ts";
import { type Check, defineGroup, PRECONDITIONS, type Precondition, WITH_TOKEN } from "../preconditions.ts";
import { receiverOf } from "../webhook-receiver.ts";

/** Sends each example of a request, for one cent and the payments of the options: the response is the example of its name. */
export function exampleChecks(contract: Contract): Check[] {
  return defineGroup(
    "Examples",
    WITH_TOKEN,
    contract.operations.flatMap((operation) =>
      operation.requests.map((example) => ({
        id: `example.${operation.id}.${example.name}`,
        name: `responds to the example ${example.name} of ${operation.id} as the document says`,
        sources: sourcesOf(operation, example),
        preconditions: preconditionsOf(example),
        run: (kit) => sendExample(kit, operation, example),
      })),
    ),
  );
}

/** The clauses that the response to an example shows. */
function sourcesOf({ id, responses }: Operation, { name }: Example): string[] {
  if (id === "subscribeToWebhooks") return ["8.4", "8.3", "5.1", "D05"];
  const documented = responses.find((response) => response.name === name);
  const shown = { PENDING: ["6.3"], AUTHORIZED: ["6.4"], TERMINAL_FAILED: ["6.5", "11.1"] };
  const status = isNode(documented?.value) ? documented.value.paymentStatus : undefined;
  const first = Object.entries(shown).find(([value]) => value === status)?.[1];
  return [...(first ?? (documented?.status === 409 ? ["7.5", "D09"] : ["D08"])), "7.3", "7.4"];
}

function preconditionsOf({ value }: Example): Precondition[] {
  if (!isNode(value)) return [];
  const kind = kindOf(value);
  // An original payment has this key.
  const ofPayment = String(value.requestKey).startsWith("debit-");
  return [...(kind ? [PRECONDITIONS[kind]] : []), ...(ofPayment ? [PRECONDITIONS.paymentKey] : [])];
}

/** Examples use payments of the sandbox, whose ids describe their state. */
function kindOf({ paymentId }: Node): PaymentKind | undefined {
  return PAYMENT_KINDS.find((kind) => paymentId === `pay_${kind}`);
}

async function sendExample(kit: Kit, operation: Operation, example: Example): Promise<void> {
  const documented = operation.responses.find(({ name }) => name === example.name);
  if (!documented || !isNode(documented.value) || !isNode(example.value))
    throw new Error(`the document has no response named ${example.name}`);
  const id = operation.id as OperationId; // the document has no others
  const body =
    id === "issueRefund"
      ? await toRefund(kit, example.value, documented.value)
      : await toSubscription(kit, example.value);
  const exchange = await kit.send({ operation: id, body });
  const violations = kit.contract.violationsOf(id, exchange.received);
  assert(violations.length === 0, `a response as the document says; ${violations.join("; ")}`, exchange);
  compare(exchange, documented.status, documented.value, kit);
}

function toRefund(kit: Kit, example: Node, documented: Node) {
  const { payments, paymentKey } = kit.options;
  const kind = kindOf(example);
  const exceeds = codeOf(documented) === "AMOUNT_EXCEEDS_REFUNDABLE";
  return {
    ...example,
    paymentId: kind ? payments[kind] : "pay_conform_unknown",
    amount: { currency: "USD", value: exceeds ? 9999999999.99 : 0.01 },
    requestKey: String(example.requestKey).startsWith("debit-") ? paymentKey : kit.newKey(),
  };
}

/** With a receiver, the first delivery ends the subscription. */
async function toSubscription(kit: Kit, example: Node) {
  const receiver = await receiverOf(kit);
  const { hash } = new URL(String(example.url));
  const url = receiver ? receiver.endpoint({ accepts: false }).url + hash : example.url;
  return { ...example, url, secretKey: kit.newSecret() };
}

/** Generated values differ; everything else is as documented. */
function compare(exchange: Exchange, status: number, documented: Node, kit: Kit): void {
  const body = bodyOf(exchange);
  const detailsOf = (from: Node) => ({
    members: Object.keys(from).sort(),
    paymentStatus: from.paymentStatus,
    clientReferenceId: from.clientReferenceId,
    errorCode: codeOf(from),
  });
  const same =
    exchange.received.status === status && isDeepStrictEqual(detailsOf(body), detailsOf(documented));
  assert(same, `${status} with ${JSON.stringify(documented)}, but for ids and texts`, exchange);
  if (isNode(documented.existing) && Object.keys(documented.existing).length === 1) {
    const wanted = JSON.stringify({ paymentId: kit.options.payments.settled });
    assert(JSON.stringify(body.existing) === wanted, `existing ${wanted}`, exchange);
  }
}

function codeOf({ errorDetails }: Node): unknown {
  return isNode(errorDetails) ? errorDetails.errorCode : undefined;
}
