import { useState } from "preact/hooks";
import { getToken } from "../parts/api.ts";
import { SCENARIOS, type Scenario } from "../parts/contract.ts";
import { Body, Code, PageHead, Status } from "../parts/parts.tsx";
import { type PlayedStep, play } from "../parts/player.ts";

/** The scenarios of the contract as stories that play step by step. */
export function Scenarios() {
  return (
    <section>
      <PageHead title="Scenarios" />
      <p class="quiet">
        Each scenario first removes all of your data and restores the initial records. Scenarios use the
        records of acme, so choose acme at the top.
      </p>
      {SCENARIOS.map((scenario) => (
        <Story key={scenario.workflowId} scenario={scenario} />
      ))}
    </section>
  );
}

const WIPE =
  "Play this scenario? It first removes this merchant's payments, refunds, events, requests and subscriptions.";

function Story({ scenario: { summary, description, ...scenario } }: { scenario: Scenario }) {
  const [steps, setSteps] = useState<readonly PlayedStep[]>([]);
  const [busy, setBusy] = useState(false);
  const run = async () => {
    if (!confirm(WIPE)) return;
    setBusy(true);
    setSteps([]);
    try {
      await play({ summary, ...scenario }, getToken(), (step) => setSteps((before) => [...before, step]));
    } finally {
      setBusy(false);
    }
  };
  return (
    <article class="card" aria-label={summary}>
      <div class="row story">
        <div class="grow">
          <h2>{summary}</h2>
          {description && <p class="quiet">{description}</p>}
        </div>
        <button type="button" class="primary" aria-label={`Play: ${summary}`} disabled={busy} onClick={run}>
          {busy ? "Playing…" : "Play"}
        </button>
      </div>
      <ol class="steps" aria-live="polite">
        {steps.map((step, index) => (
          <StepCard key={`${step.name}${index}`} step={step} />
        ))}
      </ol>
    </article>
  );
}

function StepCard({ step }: { step: PlayedStep }) {
  const { description, request, sent, status, body, passed, changed } = step;
  return (
    <li>
      <p class="row lead">
        <strong>{description}</strong>
        <Status value={passed ? "PASSED" : "FAILED"} />
      </p>
      <ul class="changed" aria-label="What changed">
        {changed.length === 0 && <li class="quiet">Nothing changed.</li>}
        {changed.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <details>
        <summary>
          {request} <Code status={status} />
        </summary>
        <div class="columns">
          <Body label="Request" text={sent === undefined ? null : JSON.stringify(sent)} />
          <Body label="Response" text={body === undefined ? null : JSON.stringify(body)} />
        </div>
      </details>
    </li>
  );
}
