import { useState } from "preact/hooks";
import { type Problem, published, type SandboxSchemas, sandbox, useLoaded } from "../data/api.ts";
import { count } from "../data/format.ts";
import { Body, Code, Empty, Id, ProblemText } from "../parts/parts.tsx";

type InboxState = SandboxSchemas["Inbox"];
type Switch = { label: string; set: Partial<Pick<InboxState, "status" | "delayMs">> };

const SWITCHES: readonly Switch[] = [
  { label: "Respond 200", set: { status: 200, delayMs: 0 } },
  { label: "Respond 500", set: { status: 500, delayMs: 0 } },
  { label: "Respond 410", set: { status: 410, delayMs: 0 } },
  { label: "Delay 3 s", set: { delayMs: 3_000 } },
];

/** A receiver for a merchant without a server, with switches that make it fail. */
export function Inbox() {
  const { data: inbox } = useLoaded("inbox", ["inbox"], () => sandbox.GET("/sandbox/inbox"));
  const [problem, setProblem] = useState<Problem>();
  if (!inbox) return null;
  const { url, status, delayMs, received } = inbox;
  const subscribe = async () => {
    const secretKey = crypto.randomUUID().replaceAll("-", "");
    const body = { url, secretKey, subscriptionDetails: { type: "ALL" as const } };
    const { error } = await published.POST("/v1/webhook/subscribe", { body });
    setProblem(error as Problem | undefined);
  };
  const isSet = ({ set }: Switch) => (set.status ?? status) === status && (set.delayMs ?? 0) === delayMs;
  return (
    <>
      <h2>Inbox</h2>
      <div class="card">
        <p>
          A receiver that is part of the sandbox, at <bdi class="id">{url}</bdi>. It responds {status}
          {delayMs > 0 && ` after ${delayMs} ms`}.
        </p>
        <div class="row">
          <button type="button" class="primary" onClick={subscribe}>
            Subscribe the inbox
          </button>
          <div class="switches">
            {SWITCHES.map((one) => (
              <button
                key={one.label}
                type="button"
                aria-pressed={isSet(one)}
                onClick={() => sandbox.POST("/sandbox/inbox", { body: one.set })}
              >
                {one.label}
              </button>
            ))}
          </div>
        </div>
        <ProblemText problem={problem} />
        {received.length === 0 ? (
          <Empty>Nothing received yet. Subscribe it, then refund a payment or send a test event.</Empty>
        ) : (
          <details>
            <summary>{count(received.length, "webhook")} received</summary>
            {received.map(({ at, webhookId, status: responded, body }, index) => (
              <article key={`${at}${index}`}>
                <p class="row lead">
                  <Code status={responded} />
                  <Id view="deliveries" id={webhookId} />
                </p>
                <Body label={`Webhook ${received.length - index}`} text={body} />
              </article>
            ))}
          </details>
        )}
      </div>
    </>
  );
}
