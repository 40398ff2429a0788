import type { OperationId } from "../../../../client/src/index.ts";
import type { Contract, Example, Operation } from "../../contract.ts";
import { type Check, defineGroup, type Exchange } from "../check.ts";
import { assert, bodyOf, isJson, type Json } from "../expect.ts";
import type { Kit } from "../kit.ts";
import { NEEDS, type Need } from "../needs.ts";
import { PAYMENT_KINDS, type PaymentKind } from "../options.ts";
import { receiverOf } from "../receiver-of.ts";
import { typedClientOf } from "../typed-client.ts";

/**
 * Every example of a request, sent with the typed client and through Prism: answered as the example of the same name says.
 * Keys are new, amounts are a cent, and payments are those that were given.
 */
export function exampleChecks(contract: Contract): Check[] {
  return defineGroup(
    "Examples, with the typed client and through Prism",
    [NEEDS.token],
    contract.operations.flatMap((operation) =>
      operation.requests.map((example) => ({
        id: `example.${operation.id}.${example.name}`,
        name: `answers the example ${example.name} of ${operation.id} as the document says`,
        sources: sourcesOf(operation, example),
        needs: needsOf(example),
        run: (kit) => sendExample(kit, operation, example),
      })),
    ),
  );
}

/** The clauses that the answer of an example shows. */
function sourcesOf({ id, responses }: Operation, { name }: Example): string[] {
  if (id === "subscribeToWebhooks") return ["8.4", "8.3", "5.1", "D05"];
  const answer = responses.find((response) => response.name === name);
  const shown = { PENDING: ["6.3"], AUTHORIZED: ["6.4"], TERMINAL_FAILED: ["6.5", "11.1"] };
  const status = isJson(answer?.value) ? answer.value.paymentStatus : undefined;
  const first = Object.entries(shown).find(([value]) => value === status)?.[1];
  return [...(first ?? (answer?.status === 409 ? ["7.5", "D09"] : ["D08"])), "7.3", "7.4"];
}

function needsOf({ value }: Example): Need[] {
  if (!isJson(value)) return [];
  const kind = kindOf(value);
  // An original payment holds this key.
  const ofPayment = String(value.requestKey).startsWith("debit-");
  return [...(kind ? [NEEDS[kind]] : []), ...(ofPayment ? [NEEDS.paymentKey] : [])];
}

/** Examples name the sandbox's payments, whose ids say what they are. */
function kindOf({ paymentId }: Json): PaymentKind | undefined {
  return PAYMENT_KINDS.find((kind) => paymentId === `pay_${kind}`);
}

async function sendExample(kit: Kit, operation: Operation, example: Example): Promise<void> {
  const client = await typedClientOf(kit);
  const documented = operation.responses.find(({ name }) => name === example.name);
  if (!documented || !isJson(documented.value) || !isJson(example.value)) {
    throw new Error(`the document has no answer named ${example.name}`);
  }
  const id = operation.id as OperationId; // the client has a function for each operation of the document
  const body =
    id === "issueRefund"
      ? await toRefund(kit, example.value, documented.value)
      : await toSubscription(kit, example.value);
  compare(await client.call(id, body), documented.status, documented.value, kit);
}

function toRefund(kit: Kit, example: Json, answer: Json) {
  const { payments, paymentKey } = kit.options;
  const kind = kindOf(example);
  const exceeds = codeOf(answer) === "AMOUNT_EXCEEDS_REFUNDABLE";
  return {
    ...example,
    paymentId: kind ? payments[kind] : "pay_conform_unknown",
    amount: { currency: "USD", value: exceeds ? 9999999999.99 : 0.01 },
    requestKey: String(example.requestKey).startsWith("debit-") ? paymentKey : kit.newKey(),
  };
}

/** With a receiver, the subscription ends with its first delivery. */
async function toSubscription(kit: Kit, example: Json) {
  const receiver = await receiverOf(kit);
  const { hash } = new URL(String(example.url));
  const url = receiver ? receiver.hook({ wanted: false }).url + hash : example.url;
  return { ...example, url, secretKey: kit.newSecret() };
}

/** What the service generates differs; all else is as documented. */
function compare(exchange: Exchange, status: number, documented: Json, kit: Kit): void {
  const body = bodyOf(exchange);
  const told = (from: Json) => ({
    members: Object.keys(from).sort(),
    paymentStatus: from.paymentStatus,
    clientReferenceId: from.clientReferenceId,
    errorCode: codeOf(from),
  });
  const same =
    exchange.received.status === status && JSON.stringify(told(body)) === JSON.stringify(told(documented));
  assert(same, `${status} with ${JSON.stringify(documented)}, but for ids and texts`, exchange);
  if (isJson(documented.existing) && Object.keys(documented.existing).length === 1) {
    const wanted = JSON.stringify({ paymentId: kit.options.payments.settled });
    assert(JSON.stringify(body.existing) === wanted, `existing ${wanted}`, exchange);
  }
}

function codeOf({ errorDetails }: Json): unknown {
  return isJson(errorDetails) ? errorDetails.errorCode : undefined;
}
