import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import pTimeout from "p-timeout";
import { runShell } from "../../helpers/projects.ts";

/** Far longer than four calls take. */
const LIMIT_MS = 30_000;

type Outcome = { readonly status?: unknown; readonly body: unknown };
export type Run = (given: {
  baseUrl: string;
  token: string;
  requestKey: string;
}) => Promise<Record<"refund" | "duplicate" | "invalid" | "subscription", Outcome>>;

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
  const outcome = await pTimeout(run({ baseUrl: url, token, requestKey }), { milliseconds: LIMIT_MS });
  const { refund, subscription } = outcome;
  const { paymentId } = refund.body as { paymentId: string };
  const { subscriptionKey } = subscription.body as { subscriptionKey: string };
  assert.match(`${paymentId} ${subscriptionKey}`, /^rfd_\S+ sub_\S+$/);
  assert.partialDeepStrictEqual(outcome, {
    // Only clients that expose the status of a success have that; then it must be right.
    refund: {
      ...("status" in refund && { status: 201 }),
      body: { paymentStatus: "PENDING", clientReferenceId: "order-1042" },
    },
    duplicate: {
      status: 409,
      body: {
        errorDetails: { errorCode: problem ?? "DUPLICATE_REQUEST_KEY" },
        existing: { paymentId, amount: { value: 9.99 } },
      },
    },
    invalid: {
      status: 400,
      body: {
        errorDetails: { errorCode: problem ?? "INVALID_REQUEST" },
        violations: [{ pointer: "/amount/value" }],
      },
    },
    subscription: { ...("status" in subscription && { status: 200 }) },
  });
}
