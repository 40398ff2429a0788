import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { parse } from "yaml";
import { readContract } from "../../../openapi/document/contract.ts";
import { isNode, type Node } from "../../../openapi/document/node.ts";
import { toPointer, valueAt } from "../../../openapi/document/pointer.ts";
import { assert } from "../assertions.ts";
import { type Check, defineGroup, PRECONDITIONS } from "../check.ts";
import type { CallSpec, Kit } from "../kit.ts";
import { OPERATIONS } from "../valid-requests.ts";

const FILE = new URL("../../../openapi/sandbox/scenarios.arazzo.yaml", import.meta.url);

/** The behaviour that each scenario demonstrates. */
const SOURCES: Readonly<Record<string, readonly string[]>> = {
  refundRecentPayment: ["6.3"],
  refundIsAuthorized: ["6.6", "12.4", "D16"],
  authorizationReachesInbox: ["10.2", "D21"],
  refundFailsWithItsPayment: ["6.7", "11.1", "D12"],
  duplicateKeyIsRejected: ["7.5", "11.3", "D09"],
};

type Document = { readonly workflows: readonly Workflow[] };

/** The scenarios of the sandbox's contract, step by step. They need the sandbox's calls, and reset the merchant's data. */
export function scenarioChecks(): Check[] {
  const document: Document = parse(readFileSync(FILE, "utf8"));
  return defineGroup(
    "Scenarios",
    { preconditions: [PRECONDITIONS.token, PRECONDITIONS.sandbox] },
    document.workflows.map((workflow) => ({
      id: `scenario.${workflow.workflowId}`,
      name: `plays the scenario: ${workflow.summary}`,
      sources: SOURCES[workflow.workflowId] ?? ["D25"],
      run: async (kit) => void (await play(kit, document, workflow)),
    })),
  );
}

async function play(kit: Kit, document: Document, workflow: Workflow): Promise<Node> {
  // The token is sent by the kit, which keeps it out of reports.
  const scope: Node = { inputs: { accessToken: kit.options.token }, steps: {} };
  let steps: Node = {};
  for (const step of workflow.steps) {
    const outputs = await playStep(kit, document, step, { ...scope, steps });
    steps = { ...steps, [step.stepId]: { outputs } };
  }
  return outputsOf(workflow.outputs, { ...scope, steps });
}

async function playStep(kit: Kit, document: Document, step: Step, scope: Scope): Promise<Node> {
  if (step.workflowId !== undefined) {
    const workflow = document.workflows.find(({ workflowId }) => workflowId === step.workflowId);
    if (!workflow) throw new Error(`there is no workflow ${step.workflowId}`);
    return outputsOf(step.outputs, { ...scope, outputs: await play(kit, document, workflow) });
  }
  const [{ retryAfter, retryLimit } = { retryAfter: 0, retryLimit: 0 }] = step.onFailure ?? [];
  for (let retry = 0; ; retry += 1) {
    const { exchange, contract, id } = await callOf(kit, step, scope);
    const { status, body } = exchange.received;
    const mismatches = contract.violationsOf(id, exchange.received);
    assert(
      mismatches.length === 0,
      `a response as documented at the step ${step.stepId}; ${mismatches.join("; ")}`,
      exchange,
    );
    const received = { ...scope, statusCode: status, response: { body } };
    const failed = step.successCriteria?.find(({ condition }) => !holds(condition, received));
    if (!failed) return outputsOf(step.outputs, received);
    assert(retry < retryLimit, `${failed.condition} at the step ${step.stepId}`, exchange);
    await setTimeout(retryAfter * 1000);
  }
}

async function callOf(kit: Kit, step: Step, scope: Scope) {
  const [, source, id] = /^\$sourceDescriptions\.(\w+)\.(\w+)$/.exec(step.operationId ?? "") ?? [];
  if (source === undefined || id === undefined) throw new Error(`no operation at the step ${step.stepId}`);
  const contract = source === "sandbox" ? readContract("sandbox") : kit.contract;
  const { path: template, method } = contract.operation(id);
  const filled = new Map((step.parameters ?? []).map(({ name, value }) => [name, fill(value, scope)]));
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(filled.get(name))));
  const operation = source === "sandbox" ? undefined : OPERATIONS.find((known) => known === id);
  const body = step.requestBody && fill(step.requestBody.payload, scope);
  const spec: CallSpec = {
    method,
    path,
    ...(operation && { operation }),
    ...(body !== undefined && { body }),
  };
  return { exchange: await kit.send(spec), contract, id };
}

function outputsOf(outputs: Readonly<Record<string, string>> = {}, scope: Scope): Node {
  return fill(outputs, scope) as Node;
}

/** The part of Arazzo 1.0 that the contract's scenarios use. Anything else throws, so that an unknown step can't pass. */
type Workflow = {
  readonly workflowId: string;
  readonly summary: string;
  readonly steps: readonly Step[];
  readonly outputs?: Readonly<Record<string, string>>;
};

type Step = {
  readonly stepId: string;
  readonly operationId?: string;
  readonly workflowId?: string;
  readonly parameters?: readonly Node[];
  readonly requestBody?: { readonly payload: unknown };
  readonly successCriteria?: readonly { readonly condition: string }[];
  readonly onFailure?: readonly {
    readonly type: "retry";
    readonly retryAfter: number;
    readonly retryLimit: number;
  }[];
  readonly outputs?: Readonly<Record<string, string>>;
};

/** The values that expressions refer to: the names after `$`, such as `inputs`, `steps`, `statusCode` and `response`. */
type Scope = Readonly<Record<string, unknown>>;

/** The value of an expression such as `$steps.refund.outputs.refundId` or `$response.body#/existing/paymentId`. */
function evaluate(expression: string, scope: Scope): unknown {
  const [path = "", pointer] = expression.slice(1).split("#");
  const value = valueAt(scope, toPointer(path.split(".")));
  return pointer === undefined ? value : valueAt(value, pointer);
}

/** A value of a step with its expressions evaluated: each is a whole string. */
export function fill(value: unknown, scope: Scope): unknown {
  if (typeof value === "string" && /^\$[a-z]/.test(value)) return evaluate(value, scope);
  if (typeof value === "string" && value.includes("{$")) throw new Error(`not a whole expression: ${value}`);
  if (Array.isArray(value)) return value.map((item) => fill(item, scope));
  if (!isNode(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fill(member, scope)]));
}

/** Whether a simple condition holds: an expression, `==`, and an expression or a literal. */
function holds(condition: string, scope: Scope): boolean {
  const [, left, right] = /^(\$\S+) == (.+)$/.exec(condition) ?? [];
  if (left === undefined || right === undefined) throw new Error(`not "expression == value": ${condition}`);
  return evaluate(left, scope) === (right.startsWith("$") ? evaluate(right, scope) : literal(right));
}

function literal(text: string): unknown {
  return /^'.*'$/.test(text) ? text.slice(1, -1) : JSON.parse(text);
}
