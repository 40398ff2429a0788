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
 * parameters of the path, and conditions of the form `a == b`.
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
    const { played, evaluate } = await send(step, values);
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

async function send(step: Step, values: Values) {
  const operationId = step.operationId?.split(".").at(-1) ?? "";
  const { method, path } = OPERATIONS[operationId] ?? { method: "GET", path: "" };
  const ofPath = (step.parameters ?? []).filter((parameter) => parameter.in === "path");
  const params = Object.fromEntries(
    ofPath.map(({ name, value }) => [
      name,
      typeof value === "string" && value.startsWith("$") ? values[value] : value,
    ]),
  );
  // The operation is known only when the scenario is played, so the compiler can't know the path.
  const request = (path.startsWith("/v1") ? published : sandbox).request as unknown as (
    method: string,
    path: string,
    init: object,
  ) => Promise<{ data?: unknown; error?: unknown; response: Response }>;
  const { data, error, response } = await request(method, path, {
    params: { path: params },
    ...(step.requestBody && { body: step.requestBody.payload }),
  });
  const body = data ?? error;
  const evaluate = (expression: string): unknown => {
    if (expression === "$statusCode") return response.status;
    if (expression.startsWith("$response.body#")) return at(body, expression.slice("$response.body#".length));
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
      sent: step.requestBody?.payload,
      status: response.status,
      body,
      passed,
    },
    evaluate,
  };
}

/** The value at a JSON Pointer. */
function at(value: unknown, pointer: string): unknown {
  return pointer
    .split("/")
    .slice(1)
    .reduce<unknown>((holder, name) => (holder as Values | undefined)?.[name], value);
}
