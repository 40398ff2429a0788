import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { type Contract, readContract } from "../../contract.ts";
import { evaluate, fill, holds, type Scope, type Step, type Workflow } from "../arazzo.ts";
import { OPERATIONS } from "../calls.ts";
import { type Check, defineGroup, type Exchange } from "../check.ts";
import { assert, isJson, type Json } from "../expect.ts";
import type { CallSpec, Kit } from "../kit.ts";
import { NEEDS } from "../needs.ts";

const FILE = new URL("../../../../openapi/sandbox/scenarios.arazzo.yaml", import.meta.url);

/** What each scenario shows. */
const SOURCES: Readonly<Record<string, readonly string[]>> = {
  refundRecentPayment: ["6.3"],
  refundIsAuthorized: ["6.6", "12.4", "D16"],
  refundFailsWithItsPayment: ["6.7", "11.1", "D12"],
  duplicateKeyIsRejected: ["7.5", "11.3", "D09"],
};

interface Document {
  readonly workflows: readonly Workflow[];
  readonly components: { readonly parameters: Readonly<Record<string, Json>> };
}

/** The scenarios of the sandbox's contract, step by step. They need its calls, and the merchant's data begin anew. */
export function scenarioChecks(): Check[] {
  const document: Document = parse(readFileSync(FILE, "utf8"));
  return defineGroup(
    "Scenarios",
    [NEEDS.token, NEEDS.sandbox],
    document.workflows.map((workflow) => ({
      id: `scenario.${workflow.workflowId}`,
      name: `plays the scenario: ${workflow.summary}`,
      sources: SOURCES[workflow.workflowId] ?? ["D25"],
      run: async (kit) => void (await play(kit, document, workflow)),
    })),
  );
}

/** Plays a workflow and resolves with its outputs. */
async function play(kit: Kit, document: Document, workflow: Workflow): Promise<Json> {
  // The token is sent by the kit, which keeps it out of reports.
  const scope: Json = { inputs: { accessToken: kit.options.token }, steps: {} };
  let steps: Json = {};
  for (const step of workflow.steps) {
    const outputs = await playStep(kit, document, step, { ...scope, steps });
    steps = { ...steps, [step.stepId]: { outputs } };
  }
  return outputsOf(workflow.outputs, { ...scope, steps });
}

async function playStep(kit: Kit, document: Document, step: Step, scope: Scope): Promise<Json> {
  if (step.workflowId !== undefined) {
    const workflow = document.workflows.find(({ workflowId }) => workflowId === step.workflowId);
    if (!workflow) throw new Error(`there is no workflow ${step.workflowId}`);
    return outputsOf(step.outputs, { ...scope, outputs: await play(kit, document, workflow) });
  }
  const { exchange, contract, id } = await callOf(kit, step, scope);
  const { status, body } = exchange.received;
  const faults = contract.faultsOf(id, exchange.received);
  assert(
    faults.length === 0,
    `an answer as documented at the step ${step.stepId}; ${faults.join("; ")}`,
    exchange,
  );
  const answered = { ...scope, statusCode: status, response: { body } };
  for (const { condition } of step.successCriteria ?? []) {
    assert(holds(condition, answered), `${condition} at the step ${step.stepId}`, exchange);
  }
  return outputsOf(step.outputs, answered);
}

type Called = { readonly exchange: Exchange; readonly contract: Contract; readonly id: string };

async function callOf(kit: Kit, step: Step, scope: Scope): Promise<Called> {
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

function outputsOf(outputs: Readonly<Record<string, string>> = {}, scope: Scope): Json {
  const entries = Object.entries(outputs).map(([name, expression]) => [name, evaluate(expression, scope)]);
  const found = Object.fromEntries(entries);
  return isJson(found) ? found : {};
}
