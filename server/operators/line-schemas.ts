import { type ContractDocument, readDocument, type Schemas } from "../contract/contract-document.ts";

/** The fields that identify a payment of a merchant. */
type PaymentName = { merchant: string; paymentId: string };

/** A change of an original payment, as the payment system sends it (D25). */
export type PaymentLine = PaymentName &
  (
    | { op: "put"; amount: Schemas["Amount"]; requestKey?: string; clientReferenceId?: string }
    | { op: "settle"; settledAt: string }
    | { op: "fail" | "cover" }
  );

/** An authorized refund, as `payouts` prints it and `reconcile` reads it. */
export type PayoutLine = PaymentName & {
  /** Where the refund stands in the payout feed; `reconcile` ignores it. */
  cursor?: number;
  requestKey: string;
  originalPaymentId: string;
  amount: Schemas["Amount"];
  /** `TERMINAL_FAILED` if the original payment has failed or been covered since. */
  status: "AUTHORIZED" | "TERMINAL_FAILED";
  clientReferenceId?: string | null;
  softDescriptor?: string | null;
  authorizedAt: string;
};

const text = (maxLength: number) => ({
  type: "string",
  minLength: 1,
  maxLength,
  pattern: "^[^\\x00]*$",
  "x-pattern-message": "must not contain U+0000 or a lone surrogate",
});
/** With at most three decimals, because the database keeps no more. */
const TIME = {
  type: "string",
  format: "date-time",
  pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:[0-5]\\d(\\.\\d{1,3})?(Z|[+-]\\d\\d:\\d\\d)$",
  "x-pattern-message": "must be a time with its offset, such as 2026-11-18T15:30:00Z",
};
const AMOUNT = { $ref: "#/components/schemas/Amount" };
const PAYMENT = { merchant: text(255), paymentId: text(64) };

function closed(properties: Record<string, object>, optional: readonly string[] = []) {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", additionalProperties: false, required, properties };
}

const change = (op: string, fields: Record<string, object> = {}, optional: readonly string[] = []) =>
  closed({ op: { type: "string", const: op }, ...PAYMENT, ...fields }, optional);

export const LINE_SCHEMAS = {
  PaymentLine: {
    oneOf: ["PutLine", "SettleLine", "FailLine", "CoverLine"].map((name) => ({
      $ref: `#/components/schemas/${name}`,
    })),
    discriminator: { propertyName: "op" },
  },
  PutLine: change("put", { amount: AMOUNT, requestKey: text(255), clientReferenceId: text(255) }, [
    "requestKey",
    "clientReferenceId",
  ]),
  SettleLine: change("settle", { settledAt: TIME }),
  FailLine: change("fail"),
  CoverLine: change("cover"),
  PayoutLine: closed(
    {
      cursor: { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
      ...PAYMENT,
      requestKey: text(255),
      originalPaymentId: text(64),
      amount: AMOUNT,
      status: { type: "string", enum: ["AUTHORIZED", "TERMINAL_FAILED"] },
      clientReferenceId: { ...text(255), type: ["string", "null"] },
      softDescriptor: {
        type: ["string", "null"],
        minLength: 0,
        maxLength: 80,
        pattern: "^[A-Za-z0-9 ]*$",
        "x-pattern-message": "may contain only ASCII letters, digits and spaces",
      },
      authorizedAt: TIME,
    },
    ["cursor", "clientReferenceId", "softDescriptor"],
  ),
};

/** The schemas of the lines of JSON that the payment system sends and gets, with the contract's schema of amounts. */
export function readLineSchemas(): ContractDocument {
  const { openapi, components } = readDocument("openapi");
  const { Amount } = components.schemas as { Amount: object };
  return { openapi, paths: {}, components: { schemas: { Amount, ...LINE_SCHEMAS } } };
}
