import type { Tool } from "./tools.ts";

/** The compiler's evaluation of a client's types; each value is printed by the compiler. */
export type Measured = {
  /** `typed` when a refund's status is the contract's three values. */
  readonly success: "typed" | "loose" | "untyped";
  /** `typed` when a problem's code is the contract's list, and the 409 and the 400 have the members that only they have. */
  readonly problem: "typed" | "loose" | "untyped";
  readonly successStatus: string;
  readonly problemStatus: string;
  /** `union` when each type of subscription takes its own details, and no other. */
  readonly subscription: "union" | "loose";
  readonly amount: string;
  readonly event: "union" | "loose" | "none";
  readonly timestamp: string;
};

/**
 * A file for the folder of a tool's program, whose type `Measured` the compiler evaluates. It compares with the types that
 * this project generates from the same document.
 */
export function toProbe({ types }: Tool): string {
  const { refundRequest, subscriptionRequest, event = "never" } = types;
  return `import type { components } from "../../../../openapi/generated/types";
import type { run } from "./example";

type Got = Awaited<ReturnType<typeof run>>;
type IsAny<T> = 0 extends 1 & T ? true : false;
type IsNever<T> = [T] extends [never] ? true : false;
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
/** An enum's members are compared as the texts that they stand for. */
type Text<T> = T extends string ? \`\${T}\` : T;
type Schemas = components["schemas"];
type Details = ${subscriptionRequest}["subscriptionDetails"];
type Event = ${event};

/** The type at the end of a path of fields, \`unset\` where there is none. */
type At<T, Path extends string[]> = Path extends [infer Head, ...infer Tail extends string[]]
  ? T extends { [Name in Head & string]: infer Next } ? At<Next, Tail> : "unset"
  : T;
type StatusOf<T> = T extends { status: infer S } ? S : "none";

type Success = Got["refund"]["body"];
type Problem = Got["duplicate"]["body"] | Got["invalid"]["body"];
type Pointer = Got["invalid"]["body"] extends { violations: (infer V)[] } ? At<V, ["pointer"]> : "unset";
type ProblemParts = [Text<At<Problem, ["errorDetails", "errorCode"]>>, At<Got["duplicate"]["body"], ["existing", "paymentId"]>, Pointer];
type Takes<T> = T extends Details ? true : false;

export type Measured = {
  success: IsAny<Success> extends true ? "untyped"
    : Same<Text<At<Success, ["paymentStatus"]>>, Schemas["RefundStatus"]> extends true ? "typed" : "loose";
  problem: IsAny<Problem> extends true ? "untyped"
    : Same<ProblemParts, [Schemas["ProblemErrorDetails"]["errorCode"], string, string]> extends true ? "typed" : "loose";
  successStatus: StatusOf<Got["refund"]>;
  problemStatus: StatusOf<Got["duplicate"]>;
  subscription: [
    Takes<{ type: "ALL" }>,
    Takes<{ type: "EVENT"; details: Extract<Details, { type: "EVENT" }>["details"] }>,
    Takes<{ type: "EVENT" }>,
    Takes<{ type: "CATEGORY"; details: Extract<Details, { type: "EVENT" }>["details"] }>,
    Takes<{ type: "OTHER"; details: Extract<Details, { type: "EVENT" }>["details"] }>,
  ] extends [true, true, false, false, false] ? "union" : "loose";
  amount: ${refundRequest}["amount"]["value"];
  event: IsNever<Event> extends true ? "none"
    : IsAny<Event> extends true ? "loose"
    : Same<At<Event, ["type"]>, Schemas["EventName"]> extends true ? "union" : "loose";
  timestamp: IsNever<Event> extends true ? "none" : At<Event, ["timestamp"]>;
};
`;
}
