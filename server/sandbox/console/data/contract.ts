/** The keywords of the contract for a field of a request. */
export type Constraints = {
  type: "string" | "number" | "integer" | "array";
  format?: string;
  required: boolean;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  enum?: string[];
  "x-fraction-digits"?: number;
  "x-pattern-message"?: string;
  /** The strings that a list may contain, by the option that is chosen next to it. */
  choices?: Record<string, string[]>;
};

/** The forms of the page, named after the schemas of their requests. */
export type FormName =
  | "NewPayment"
  | "RefundRequest"
  | "SubscriptionRequest"
  | "NewEvent"
  | "NewFault"
  | "NewSecret";

export type Step = {
  stepId: string;
  description?: string;
  workflowId?: string;
  operationId?: string;
  parameters?: { name: string; in?: string; value: unknown }[];
  requestBody?: { payload: unknown };
  successCriteria?: { condition: string }[];
  /** Sends the request again, after so many seconds and so many times, until the criteria hold. */
  onFailure?: { type: "retry"; retryAfter: number; retryLimit: number }[];
  outputs?: Record<string, string>;
};

/** An Arazzo workflow. */
export type Scenario = {
  workflowId: string;
  summary: string;
  description?: string;
  steps: Step[];
  outputs?: Record<string, string>;
};

/** The parts of the contract that the console uses, put into its script by the build (`scripts/pages/build-console.ts`). */
declare const CONTRACT: {
  workflows: Scenario[];
  operations: Record<string, { method: string; path: string }>;
  /** The constraints of each field of a form, by its JSON Pointer. */
  forms: Record<FormName, Record<string, Constraints>>;
  /** How to verify a delivery: the example of the client's documentation. */
  verify: string;
};

/** Used once, because the build inserts all of it wherever its name stands. */
const contract = CONTRACT;

export const SCENARIOS: readonly Scenario[] = contract.workflows;
export const OPERATIONS = contract.operations;
export const VERIFY = contract.verify;

export function constraintsOf(form: FormName, pointer: string): Constraints {
  return contract.forms[form][pointer] ?? { type: "string", required: false };
}

/** Whether the object at a JSON Pointer has variants, of which each may have a list. */
export function isVariant(form: FormName, pointer: string): boolean {
  return contract.forms[form][`${pointer}/details`]?.choices !== undefined;
}

/** The constraints in words, such as `at most 255 characters`. */
export function inWords({
  format,
  maxLength,
  minimum,
  maximum,
  "x-fraction-digits": fractionDigits,
  "x-pattern-message": patternMessage,
  pattern,
}: Constraints): string {
  if (format === "date-time") return "such as 2026-11-24T15:30:00Z";
  const words = [
    ...(minimum !== undefined && maximum !== undefined
      ? [`${minimum} to ${maximum.toLocaleString("en-US")}`]
      : []),
    ...(fractionDigits !== undefined ? [`at most ${fractionDigits} decimals`] : []),
    ...(maxLength !== undefined ? [`at most ${maxLength} characters`] : []),
    // The pattern that only excludes U+0000 is not worth mentioning.
    ...(pattern !== undefined && !pattern.includes("\\x00") && patternMessage ? [patternMessage] : []),
  ];
  return words.join(", ");
}

/** The constraints as a `pattern` for the browser, which counts characters as the contract does: in code points. */
export function toPattern({
  type,
  minLength = 0,
  maxLength,
  pattern,
  "x-fraction-digits": fractionDigits,
}: Constraints): string | undefined {
  if (type === "integer") return "\\d+";
  if (type === "number") return `\\d+(\\.\\d{1,${fractionDigits ?? 2}})?`;
  if (maxLength === undefined) return undefined;
  const whole = pattern && !pattern.includes("\\x00") ? `(?=${pattern.replace(/^\^/, "")})` : "";
  return `${whole}[\\s\\S]{${minLength},${maxLength}}`;
}
