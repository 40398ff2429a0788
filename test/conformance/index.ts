/** The package @refund-contract/conformance for programs: `runConformance({ url, token })` resolves with a report. */
import { toJson, toJunit } from "../reporting/json-junit-html.ts";
import { CannotRun, readUrl } from "../reporting/option-readers.ts";
import { type ConformOptions, DEFAULTS, readToken } from "./options.ts";
import { runConformance } from "./run-conformance.ts";

export { CannotRun };

/** The options of a run; what is left out has the default of the command. */
export type ConformanceOptions = Partial<Omit<ConformOptions, "url" | "token" | "require">> & {
  /** The address of the service: the part before `/v1`, such as `https://payments.example.com`. */
  readonly url: string;
  /** An access token with both scopes. */
  readonly token: string;
  /** Prefixes of the ids of checks that fail when they are not run, or "all". */
  readonly require?: "all" | readonly string[];
};

/** The result of one check. */
export type ConformanceCheck = {
  /** Such as `access.unknown-token`. */
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

/** The readers of the command, so that both refuse the same values. */
const READERS: Readonly<Record<string, (text: string, name: string) => string>> = {
  url: readUrl,
  receiver: readUrl,
  token: readToken,
  otherToken: readToken,
  secondToken: readToken,
  unscopedToken: readToken,
};

/**
 * Makes every check that the options allow, one after the other.
 * @returns the report, and the same as JUnit XML
 * @throws CannotRun when an address or a token is wrong, the service can't be reached, or no check is selected
 */
export async function conform(
  options: ConformanceOptions,
): Promise<{ report: ConformanceReport; junit: string }> {
  const { require = [], ...rest } = options;
  // What is undefined is left out, too.
  const given = Object.entries(rest).filter(([, value]) => value !== undefined);
  const complete = Object.entries({ url: "", token: "", ...Object.fromEntries(given) });
  const read = complete.map(([name, value]) => [name, READERS[name]?.(String(value), name) ?? value]);
  const report = await runConformance({
    ...DEFAULTS,
    ...(Object.fromEntries(read) as typeof rest),
    require: require === "all" ? [""] : require,
  });
  return { report: JSON.parse(toJson(report)), junit: toJunit(report, "conform") };
}
