import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runShell } from "../../helpers/projects.ts";

/** Far longer than four calls take. */
const LIMIT_MS = 30_000;

type Outcome = { readonly status?: unknown; readonly body: unknown };
export type Run = (given: {
  baseUrl: string;
  token: string;
  requestKey: string;
}) => Promise<Record<string, Outcome>>;

/** Builds a project's program. */
export async function buildProgram(folder: string): Promise<Run> {
  // As applications are built: generated code imports without extensions and has enums, which Node does not run.
  const bundle = join(folder, "example.mjs");
  await runShell(
    `npx esbuild example.ts --bundle --platform=node --format=esm --packages=external --outfile=${JSON.stringify(bundle)}`,
    folder,
  );
  const { run }: { run: Run } = await import(`${pathToFileURL(bundle)}?${Date.now()}`);
  return run;
}

/**
 * Runs a program against the sandbox at `url`. Fails when it did not read the service's responses: a refund, a problem for the
 * same key again, a problem for a wrong amount, and a subscription.
 *
 * @param problem the code of every problem; without it, each has its own
 */
export async function exercise(
  run: Run,
  url: string,
  { token, problem } = { token: "sandbox_acme", problem: undefined as string | undefined },
): Promise<void> {
  const requestKey = `generated-${Date.now()}`;
  const outcome = await Promise.race([run({ baseUrl: url, token, requestKey }), timeout()]);
  const mismatches = findMismatches(outcome, problem);
  if (mismatches.length > 0)
    throw new Error(`${mismatches.join("\n")}\nit read ${JSON.stringify(outcome, null, 2)}`);
}

async function timeout(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`no response in ${LIMIT_MS / 1000} s`)), LIMIT_MS).unref();
  });
}

function findMismatches(outcome: Record<string, Outcome>, problem: string | undefined): string[] {
  const refundId = at(outcome, "refund", "body", "paymentId");
  const expected: [unknown, ...string[]][] = [
    ["PENDING", "refund", "body", "paymentStatus"],
    ["order-1042", "refund", "body", "clientReferenceId"],
    [409, "duplicate", "status"],
    [problem ?? "DUPLICATE_REQUEST_KEY", "duplicate", "body", "errorDetails", "errorCode"],
    [refundId, "duplicate", "body", "existing", "paymentId"],
    [9.99, "duplicate", "body", "existing", "amount", "value"],
    [400, "invalid", "status"],
    [problem ?? "INVALID_REQUEST", "invalid", "body", "errorDetails", "errorCode"],
    ["/amount/value", "invalid", "body", "violations", "0", "pointer"],
  ];
  // Only clients that expose the status of a success have this field; then it must be right.
  if (outcome.refund && "status" in outcome.refund) expected.push([201, "refund", "status"]);
  if (outcome.subscription && "status" in outcome.subscription)
    expected.push([200, "subscription", "status"]);
  const mismatches = expected
    .filter(([value, ...path]) => value === undefined || at(outcome, ...path) !== value)
    .map(([value, ...path]) => `${path.join(".")} should be ${value} and is ${at(outcome, ...path)}`);
  const key = at(outcome, "subscription", "body", "subscriptionKey");
  return typeof key === "string"
    ? mismatches
    : [...mismatches, `subscription.body.subscriptionKey is ${key}`];
}

function at(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (holder, name) => (holder as Record<string, unknown> | undefined)?.[name],
    value,
  );
}
