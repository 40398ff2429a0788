import { Counter, collectDefaultMetrics, Histogram, Registry } from "prom-client";
import type { RefundStatus } from "../domain/refunds.ts";
import type { RequestOutcome } from "../http/middleware/request-log.ts";
import type { AttemptResult } from "../storage/statements/attempts.ts";
import type { Attempt } from "../storage/statements/claims.ts";
import { type GaugeSources, registerGauges } from "./gauges.ts";

/** The events that a server counts. Labels have few values, so never a merchant, an id or an address. */
export type Metrics = {
  observeRequest(outcome: RequestOutcome): void;
  /** Counts refunds that took this status at this server. */
  countRefunds(status: RefundStatus, count: number): void;
  /** Counts due refunds that this server left for later, because somebody else had locked them. */
  countSkippedRefunds(count: number): void;
  observeAttempt(result: AttemptResult, attempt: Pick<Attempt, "earlierAttempts" | "payload">): void;
};

const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const ATTEMPT_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
const DELAY_BUCKETS = [0.1, 0.5, 1, 5, 15, 30, 60, 300, 900, 3600];

/** Counters and histograms in a registry of their own, beside the gauges that are read from the sources at each scrape. */
export function createMetrics(
  sources: GaugeSources,
): Metrics & { text(): Promise<string>; contentType: string } {
  const register = new Registry();
  const registers = [register];
  collectDefaultMetrics({ register });
  registerGauges(registers, sources);

  const requests = new Counter({
    name: "http_requests_total",
    help: "Responses by route and status; status aborted: the caller disconnected before the response.",
    labelNames: ["route", "status"],
    registers,
  });
  const requestSeconds = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from a request's head to the end of its response.",
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
  const skippedRefunds = new Counter({
    name: "refunds_skipped_total",
    help: "Due refunds that a scan left to the next one, because another transaction had locked them or their payments.",
    registers,
  });
  const attempts = new Counter({
    name: "webhook_attempts_total",
    help: "Attempts to deliver a webhook, by outcome.",
    labelNames: ["outcome"],
    registers,
  });
  const attemptSeconds = new Histogram({
    name: "webhook_attempt_duration_seconds",
    help: "Time that an attempt to deliver a webhook took.",
    buckets: ATTEMPT_BUCKETS,
    registers,
  });
  const firstAttemptDelay = new Histogram({
    name: "webhook_first_attempt_delay_seconds",
    help: "Time from an event to the first attempt to deliver it.",
    buckets: DELAY_BUCKETS,
    registers,
  });

  return {
    observeRequest({ route, status, milliseconds }) {
      requests.inc({ route, status });
      requestSeconds.observe({ route }, milliseconds / 1000);
    },
    countRefunds: (status, count) => refunds.inc({ status }, count),
    countSkippedRefunds: (count) => skippedRefunds.inc(count),
    observeAttempt({ at, outcome, milliseconds }, { earlierAttempts, payload }) {
      attempts.inc({ outcome: outcome.kind });
      attemptSeconds.observe(milliseconds / 1000);
      // A sandbox's clock may be ahead of real time, in which attempts are made.
      if (earlierAttempts === 0)
        firstAttemptDelay.observe(
          Math.max(0, at.getTime() - Date.parse(JSON.parse(payload).timestamp)) / 1000,
        );
    },
    text: () => register.metrics(),
    contentType: register.contentType,
  };
}
