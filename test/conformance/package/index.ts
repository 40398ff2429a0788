import { ConformError, MAX_SAMPLE } from "../options.ts";
import { toJson, toJunit } from "../report.ts";
import { runConformance } from "../run.ts";

export { ConformError };

/** Those of `payments` are ids of payments of the merchant whose `token` is, by what they are. */
export interface ConformanceOptions {
  /** Where the service is: what stands before `/v1`, such as `https://payments.example.com`. */
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
  /** The requestKey that the settled payment itself holds. */
  paymentKey?: string;
  /** Where the service reaches this machine, to be sent events; with port 0, a free port of it. */
  receiver?: string;
  /** Where the receiver listens, when that differs from the port in `receiver`. */
  receiverPort?: number;
  /** The service has the sandbox's calls: plays the scenarios, which RESETS the merchant's data. */
  sandbox?: boolean;
  /** The most requests to send to meet the rate limit; 0, which is the default, does not try it. */
  burst?: number;
  /** The number of requests for each constraint; all of some 2,000 when left out. */
  sample?: number;
  /** Milliseconds that a response may take, and a delivery; 10,000 when left out. */
  timeoutMs?: number;
  /** Beginnings of ids of checks; all checks when left out. */
  only?: readonly string[];
  /** Beginnings of ids of checks that fail when they are not run, or "all". */
  require?: "all" | readonly string[];
}

/** The result of one check. */
export interface ConformanceCheck {
  /** Such as `access.no-token`. */
  readonly id: string;
  readonly group: string;
  /** What the service should do, as a sentence. */
  readonly name: string;
  /** The clauses and decisions that say so. */
  readonly sources: readonly {
    readonly id: string;
    readonly kind: "clause" | "decision";
    readonly title: string;
    readonly text: string;
  }[];
  readonly outcome: "passed" | "failed" | "not run";
  /** Why it was not run. */
  readonly reason?: string;
  /** The options of the command that would run it. */
  readonly missing?: readonly string[];
  readonly seconds: number;
  /** Of a failure: what should have come. */
  readonly expected?: string;
  /** Of a failure: the lines of the request, without secrets. */
  readonly sent?: readonly string[];
  /** Of a failure: the lines of the response, or why there is none. */
  readonly received?: readonly string[];
}

/** The result of a run, without secrets; the same as the JSON of the command's `--json`. */
export interface ConformanceReport {
  readonly url: string;
  /** A time as in ISO 8601. */
  readonly startedAt: string;
  readonly seconds: number;
  readonly calls: number;
  readonly subscriptionsMade: number;
  readonly subscriptionsEnded: number;
  readonly passed: number;
  readonly failed: number;
  readonly notRun: number;
  readonly checks: readonly ConformanceCheck[];
}

/**
 * Makes every check that the options allow, one after the other.
 *
 * @returns the report, and the same as JUnit XML
 * @throws ConformError when the service can't be reached, refuses a token, or no check is asked for
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
