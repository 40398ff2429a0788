/** What the contract says about a field of a request. The build takes it from the keywords (`scripts/console/console-forms.ts`). */
export type Constraints = {
  type: "string" | "number" | "integer" | "array";
  required: boolean;
  /** The constraints in words, such as `at most 255 characters`. */
  hint?: string | undefined;
  /** The constraints of the text, for the browser. */
  pattern?: string | undefined;
  enum?: string[] | undefined;
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

/** The parts of the contract that the console uses, put into its script by the build (`scripts/console/build-console.ts`). */
declare const CONTRACT: {
  /** The constraints of each field of a form, by its JSON Pointer. */
  forms: Record<FormName, Record<string, Constraints>>;
};

/** Used once, because the build inserts all of it wherever its name stands. */
const contract = CONTRACT;

export function constraintsOf(form: FormName, pointer: string): Constraints {
  return contract.forms[form][pointer] ?? { type: "string", required: false };
}

/** Whether the object at a JSON Pointer has variants, of which each may have a list. */
export function isVariant(form: FormName, pointer: string): boolean {
  return contract.forms[form][`${pointer}/details`]?.choices !== undefined;
}
