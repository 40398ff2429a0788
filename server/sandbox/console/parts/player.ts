import { valueAt } from "../../../../openapi/document/pointer.ts";
import { published, sandbox } from "./api.ts";
import { type Difference, differenceOf, takeSnapshot } from "./changes.ts";
import { OPERATIONS, SCENARIOS, type Scenario, type Step } from "./contract.ts";

export type PlayedStep = {
  name: string;
  description: string;
  request: string;
  /** What was sent; undefined without a body. */
  sent: unknown;
  status: number;
  body: unknown;
  passed: boolean;
  /** What the step has changed. */
  changed: Difference;
};

type Values = Record<string, unknown>;

/**
 * Plays a workflow, with the parts of Arazzo that our scenarios use: steps that are operations or other workflows,
 * parameters of the path, values of earlier steps in a body, conditions of the form `a == b`, and retries.
 *
 * @returns the outputs of the workflow
 */
export async function play(
  { steps, outputs = {} }: Scenario,
  accessToken: string,
  show: (step: PlayedStep) => void,
): Promise<Values> {
  const values: Values = { "$inputs.accessToken": accessToken };
  for (const step of steps) {
    const inner = SCENARIOS.find(({ workflowId }) => workflowId === step.workflowId);
    if (inner) {
      const taken = await play(inner, accessToken, show);
      keep(values, step, (expression) => taken[expression.replace("$outputs.", "")]);
      continue;
    }
    const before = await takeSnapshot();
    const { played, evaluate } = await sendUntilPassed(step, values);
    show({ ...played, changed: differenceOf(before, await takeSnapshot()) });
    if (!played.passed) break;
    keep(values, step, evaluate);
  }
  return Object.fromEntries(Object.entries(outputs).map(([name, expression]) => [name, values[expression]]));
}

function keep(
  values: Values,
  { stepId, outputs = {} }: Step,
  evaluate: (expression: string) => unknown,
): void {
  for (const [name, expression] of Object.entries(outputs)) {
    values[`$steps.${stepId}.outputs.${name}`] = evaluate(expression);
  }
}

async function sendUntilPassed(step: Step, values: Values) {
  const [{ retryAfter, retryLimit } = { retryAfter: 0, retryLimit: 0 }] = step.onFailure ?? [];
  for (let retry = 0; ; retry += 1) {
    const sent = await send(step, values);
    if (sent.played.passed || retry === retryLimit) return sent;
    await new Promise((resolve) => setTimeout(resolve, retryAfter * 1000));
  }
}

async function send(step: Step, values: Values) {
  const operationId = step.operationId?.split(".").at(-1) ?? "";
  const { method, path } = OPERATIONS[operationId] ?? { method: "GET", path: "" };
  const ofPath = (step.parameters ?? []).filter((parameter) => parameter.in === "path");
  const params = Object.fromEntries(ofPath.map(({ name, value }) => [name, fill(value, values)]));
  const sent = fill(step.requestBody?.payload, values);
  // The operation is known only when the scenario is played, so the compiler can't know the path.
  const request = (path.startsWith("/v1") ? published : sandbox).request as unknown as (
    method: string,
    path: string,
    init: object,
  ) => Promise<{ data?: unknown; error?: unknown; response: Response }>;
  const { data, error, response } = await request(method, path, {
    params: { path: params },
    ...(step.requestBody && { body: sent }),
  });
  const body = data ?? error;
  const evaluate = (expression: string): unknown => {
    if (expression === "$statusCode") return response.status;
    if (expression.startsWith("$response.body#"))
      return valueAt(body, expression.slice("$response.body#".length));
    if (expression.startsWith("$")) return values[expression];
    return expression.startsWith("'") ? expression.slice(1, -1) : Number(expression);
  };
  const passed = (step.successCriteria ?? []).every(({ condition }) => {
    const [left = "", right = ""] = condition.split(" == ");
    return evaluate(left) === evaluate(right);
  });
  const description = step.description ?? step.stepId;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => String(params[name]));
  return {
    played: {
      name: step.stepId,
      description,
      request: `${method.toUpperCase()} ${filled}`,
      sent,
      status: response.status,
      body,
      passed,
    },
    evaluate,
  };
}

/** A value with the outputs of earlier steps in place of their expressions. */
function fill(value: unknown, values: Values): unknown {
  if (typeof value === "string") return value.startsWith("$") ? values[value] : value;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fill(member, values)]));
}
