import { Counter, collectDefaultMetrics, Histogram, Registry } from "prom-client";
import type { RefundStatus } from "../domain/refunds.ts";
import type { Outcome } from "../http/envelope.ts";
import type { AttemptResult } from "../storage/delivery-attempts.ts";
import { type GaugeSources, registerGauges } from "./gauges.ts";

/** What the parts of a server tell of their work. Labels have few values: never a merchant, an id or an address. */
export interface Metrics {
  observeRequest(outcome: Outcome): void;
  /** A status that refunds took at this server. */
  countRefunds(status: RefundStatus, count: number): void;
  observeAttempt(result: AttemptResult): void;
}

const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const ATTEMPT_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/** Nobody asks for metrics. */
export const noMetrics: Metrics = { observeRequest() {}, countRefunds() {}, observeAttempt() {} };

/** Counts into a registry of its own; what is asked of the database is asked when somebody reads it. */
export function createMetrics(
  sources: GaugeSources,
): Metrics & { text(): Promise<string>; contentType: string } {
  const register = new Registry();
  const registers = [register];
  collectDefaultMetrics({ register });
  registerGauges(registers, sources);

  const requests = new Counter({
    name: "http_requests_total",
    help: "Requests answered, by route and status; status aborted: the caller was gone first.",
    labelNames: ["route", "status"],
    registers,
  });
  const requestSeconds = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from a request's head to the end of its answer.",
    labelNames: ["route"],
    buckets: REQUEST_BUCKETS,
    registers,
  });
  const refunds = new Counter({
    name: "refund_statuses_total",
    help: "Statuses that refunds took at this server, when issued and when due.",
    labelNames: ["status"],
    registers,
  });
  const attempts = new Counter({
    name: "webhook_attempts_total",
    help: "Attempts to deliver a webhook, by what came of them.",
    labelNames: ["outcome"],
    registers,
  });
  const attemptSeconds = new Histogram({
    name: "webhook_attempt_duration_seconds",
    help: "Time that an attempt to deliver a webhook took.",
    buckets: ATTEMPT_BUCKETS,
    registers,
  });

  return {
    observeRequest({ route, status, milliseconds }) {
      requests.inc({ route, status });
      requestSeconds.observe({ route }, milliseconds / 1000);
    },
    countRefunds: (status, count) => refunds.inc({ status }, count),
    observeAttempt({ verdict, milliseconds }) {
      attempts.inc({ outcome: verdict.kind });
      attemptSeconds.observe(milliseconds / 1000);
    },
    text: () => register.metrics(),
    contentType: register.contentType,
  };
}
