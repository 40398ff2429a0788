import { isJson, type Json } from "./expect.ts";

/** As much of Arazzo 1.0 as the contract's scenarios use. Anything else throws: a step that is not understood is not passed. */
export interface Workflow {
  readonly workflowId: string;
  readonly summary: string;
  readonly parameters?: readonly Json[];
  readonly steps: readonly Step[];
  readonly outputs?: Readonly<Record<string, string>>;
}

export interface Step {
  readonly stepId: string;
  readonly operationId?: string;
  readonly workflowId?: string;
  readonly parameters?: readonly Json[];
  readonly requestBody?: { readonly payload: unknown };
  readonly successCriteria?: readonly { readonly condition: string }[];
  readonly outputs?: Readonly<Record<string, string>>;
}

/** What expressions are about: the names after `$`, such as `inputs`, `steps`, `statusCode` and `response`. */
export type Scope = Readonly<Record<string, unknown>>;

/** The value of an expression such as `$steps.refund.outputs.refundId` or `$response.body#/existing/paymentId`. */
export function evaluate(expression: string, scope: Scope): unknown {
  const [path = "", pointer] = expression.slice(1).split("#");
  const value = path.split(".").reduce<unknown>((part, name) => memberOf(part, name), scope);
  if (pointer === undefined) return value;
  return pointer
    .split("/")
    .slice(1)
    .reduce<unknown>((part, name) => memberOf(part, name.replaceAll("~1", "/").replaceAll("~0", "~")), value);
}

function memberOf(part: unknown, name: string): unknown {
  return typeof part === "object" && part !== null ? Reflect.get(part, name) : undefined;
}

/** A value of a step with its expressions filled in: whole texts, and those that braces mark inside of one. */
export function fill(value: unknown, scope: Scope): unknown {
  if (typeof value === "string") {
    if (/^\$[a-z]/.test(value)) return evaluate(value, scope);
    return value.replaceAll(/\{(\$[^}]+)\}/g, (_, expression) => String(evaluate(expression, scope)));
  }
  if (Array.isArray(value)) return value.map((item) => fill(item, scope));
  if (!isJson(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fill(member, scope)]));
}

/** Whether a simple condition holds: an expression, `==`, and an expression or a literal. */
export function holds(condition: string, scope: Scope): boolean {
  const [, left, right] = /^(\$\S+) == (.+)$/.exec(condition) ?? [];
  if (left === undefined || right === undefined) throw new Error(`a condition of another form: ${condition}`);
  return evaluate(left, scope) === (right.startsWith("$") ? evaluate(right, scope) : literal(right));
}

function literal(text: string): unknown {
  return /^'.*'$/.test(text) ? text.slice(1, -1) : JSON.parse(text);
}
