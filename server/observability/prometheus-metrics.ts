import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "@prometheus-io/client";
import type { paths } from "../../openapi/generated/types.ts";
import type { Outcome } from "../domain/delivery-outcome.ts";
import { REFUND_TRANSITIONS } from "../domain/refund-rules.ts";
import type { Observer, Refusal } from "./observer.ts";
import { type GaugeSources, registerGauges } from "./prometheus-gauges.ts";

/** Counts and times the work of a server for Prometheus. Labels have few values, so never a merchant, an id or an address. */
export function createMetrics(): ServedMetrics {
  const register = new Registry();
  const registers = [register];
  collectDefaultMetrics({ register });

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
  const refusals = new Counter({
    name: "http_requests_refused_total",
    help: "Requests that were refused because too many were under way, of all merchants or of theirs.",
    labelNames: ["reason"],
    registers,
  });
  // Prometheus sees no increase in a counter that begins above 0, so the first failure would be missed.
  for (const reason of Object.values(REASONS)) refusals.inc({ reason }, 0);
  for (const route of ROUTES) for (const status of [500, 503]) requests.inc({ route, status }, 0);
  for (const { to } of REFUND_TRANSITIONS) refunds.inc({ status: to }, 0);
  for (const outcome of OUTCOMES) attempts.inc({ outcome }, 0);
  const endedAt = new Map<string, number>();
  new Gauge({
    name: "background_run_age_seconds",
    help: "Time since work in the background last ended without an error at this server.",
    labelNames: ["name"],
    registers,
    collect() {
      for (const [name, ms] of endedAt) this.set({ name }, (performance.now() - ms) / 1000);
    },
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
      // Attempts are made in real time, which a sandbox's clock may be ahead of.
      if (earlierAttempts === 0)
        firstAttemptDelay.observe(
          Math.max(0, at.getTime() - Date.parse(JSON.parse(payload).timestamp)) / 1000,
        );
    },
    countRefusal: (reason) => refusals.inc({ reason: REASONS[reason] }),
    noteRun: (name) => endedAt.set(name.replaceAll(" ", "_"), performance.now()),
    addGauges: (sources) => registerGauges(registers, sources),
    read: async () => ({ text: await register.metrics(), contentType: register.contentType }),
  };
}

export type ServedMetrics = Observer & {
  addGauges(sources: GaugeSources): void;
  read(): Promise<{ text: string; contentType: string }>;
};

const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const ATTEMPT_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
const DELAY_BUCKETS = [0.1, 0.5, 1, 5, 15, 30, 60, 300, 900, 3600];

const REASONS = { full: "server", "merchant full": "merchant" } as const satisfies Record<Refusal, string>;

const ROUTES = ["/v1/refunds", "/v1/webhook/subscribe"] as const satisfies readonly (keyof paths)[];
const OUTCOMES = ["delivered", "retry", "exhausted", "ended"] as const satisfies readonly Outcome["kind"][];
