import { ConformError, MAX_SAMPLE } from "./options.ts";
import { toJson, toJunit } from "./report.ts";
import { runConformance } from "./run.ts";

export { ConformError };

/** `payments` has ids of payments of the merchant that `token` belongs to, by their state. */
export type ConformanceOptions = {
  /** The address of the service: the part before `/v1`, such as `https://payments.example.com`. */
  url: string;
  /** An access token with both scopes. */
  token: string;
  /** A token of another merchant. */
  otherToken?: string;
  /** A second token of the same merchant. */
  secondToken?: string;
  /** A token of the same merchant with neither of the two scopes. */
  unscopedToken?: string;
  payments?: Partial<Record<"settled" | "recent" | "processing" | "failed" | "covered" | "refund", string>>;
  /** The requestKey of the settled payment itself. */
  paymentKey?: string;
  /** The address to which the service can send events on this machine; port 0 chooses a free port. */
  receiver?: string;
  /** The address on which the receiver listens, when it differs from the port in `receiver`. */
  receiverPort?: number;
  /** The service has the sandbox's calls: plays the scenarios, which RESETS the merchant's data. */
  sandbox?: boolean;
  /** The most requests to send in order to exceed the rate limit; 0, the default, skips this check. */
  burst?: number;
  /** The number of requests for each constraint; all of them, some 2,000 in total, when left out. */
  sample?: number;
  /** Milliseconds that a response or a delivery may take; 10,000 when left out. */
  timeoutMs?: number;
  /** Prefixes of check ids; all checks when left out. */
  only?: readonly string[];
  /** Prefixes of the ids of checks that fail when they are not run, or "all". */
  require?: "all" | readonly string[];
};

/** The result of one check. */
export type ConformanceCheck = {
  /** Such as `access.no-token`. */
  readonly id: string;
  readonly group: string;
  /** The expected behaviour of the service, as a sentence. */
  readonly name: string;
  /** The clauses and decisions that require it. */
  readonly sources: readonly {
    readonly id: string;
    readonly kind: "clause" | "decision";
    readonly title: string;
    readonly text: string;
  }[];
  readonly outcome: "passed" | "failed" | "not run";
  /** Why it was not run. */
  readonly reason?: string;
  /** The options of the command that would make it run. */
  readonly missing?: readonly string[];
  readonly seconds: number;
  /** For a failure: the expected response. */
  readonly expected?: string;
  /** For a failure: the lines of the request, without secrets. */
  readonly sent?: readonly string[];
  /** For a failure: the lines of the response, or why there was none. */
  readonly received?: readonly string[];
};

/** The result of a run, without secrets; the same as the JSON of the command's `--json`. */
export type ConformanceReport = {
  readonly url: string;
  /** A time in ISO 8601. */
  readonly startedAt: string;
  readonly seconds: number;
  readonly calls: number;
  readonly subscriptionsMade: number;
  readonly subscriptionsEnded: number;
  readonly passed: number;
  readonly failed: number;
  readonly notRun: number;
  readonly checks: readonly ConformanceCheck[];
};

/**
 * Makes every check that the options allow, one after the other.
 *
 * @returns the report, and the same as JUnit XML
 * @throws ConformError when the service can't be reached, refuses a token, or no check is selected
 */
export async function conform(
  options: ConformanceOptions,
): Promise<{ report: ConformanceReport; junit: string }> {
  const { require = [], url, ...rest } = options;
  const report = await runConformance({
    payments: {},
    sandbox: false,
    burst: 0,
    sample: MAX_SAMPLE,
    timeoutMs: 10_000,
    only: [],
    ...rest,
    url: url.replace(/\/+$/, ""),
    require: require === "all" ? [""] : require,
  });
  return { report: JSON.parse(toJson(report)), junit: toJunit(report) };
}
