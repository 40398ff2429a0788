import { useState } from "preact/hooks";
import { Action, Body, Code, Empty, Id, ProblemText, ShownOnce } from "../ui/elements.tsx";
import { count } from "../ui/format-values.ts";
import { published, type SandboxSchemas, sandbox, useLoaded } from "../ui/sandbox-api.ts";

/** A receiver for a merchant without a server, with switches that make it fail. */
export function Inbox() {
  const { data: inbox, problem } = useLoaded("inbox", ["inbox", "webhooks"], () =>
    sandbox.GET("/sandbox/inbox"),
  );
  const [secret, setSecret] = useState("");
  if (!inbox) return <ProblemText problem={problem} />;
  const { url, subscriptionKey, status, delayMs, received } = inbox;
  const subscribe = async () => {
    const secretKey = newSecret();
    const body = { url, secretKey, subscriptionDetails: { type: "ALL" as const } };
    const subscribed = await published.POST("/v1/webhook/subscribe", { body });
    if (subscribed.data) setSecret(secretKey);
    return subscribed;
  };
  const isSet = ({ set }: Switch) => (set.status ?? status) === status && (set.delayMs ?? 0) === delayMs;
  return (
    <>
      <h2>Inbox</h2>
      <div class="card">
        <p>
          A receiver that is part of the sandbox, at <bdi class="id">{url}</bdi>. It responds {status}
          {delayMs > 0 && ` after ${delayMs} ms`}.{" "}
          {subscriptionKey !== null && (
            <>
              Its subscription is <Id view="subscriptions" id={subscriptionKey} />.
            </>
          )}
        </p>
        <div class="row">
          {subscriptionKey === null && (
            <Action primary call={subscribe}>
              Subscribe the inbox
            </Action>
          )}
          <div class="switches">
            {SWITCHES.map((choice) => (
              <Action
                key={choice.label}
                pressed={isSet(choice)}
                call={() => sandbox.POST("/sandbox/inbox", { body: choice.set })}
              >
                {choice.label}
              </Action>
            ))}
          </div>
        </div>
        {secret !== "" && <ShownOnce label="The secret that signs its deliveries." secret={secret} />}
        {received.length === 0 ? (
          <Empty>
            {subscriptionKey === null
              ? "Nothing received yet. Subscribe the inbox, then refund a payment or send a test event."
              : "Nothing received since the sandbox started. Refund a payment, or send a test event."}
          </Empty>
        ) : (
          <details>
            <summary>
              {received.length === LISTED
                ? `The latest ${LISTED} webhooks received`
                : `${count(received.length, "webhook")} received`}
            </summary>
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

type InboxState = SandboxSchemas["Inbox"];
/** How many of the received webhooks the sandbox shows. */
const LISTED = 50;

type Switch = { label: string; set: Partial<Pick<InboxState, "status" | "delayMs">> };

const SWITCHES: readonly Switch[] = [
  { label: "Respond 200", set: { status: 200, delayMs: 0 } },
  { label: "Respond 500", set: { status: 500, delayMs: 0 } },
  { label: "Respond 410", set: { status: 410, delayMs: 0 } },
  { label: "Delay 3 s", set: { delayMs: 3_000 } },
];

/** The prefix says that base64 follows, which stands for the bytes that sign (D22). */
export function newSecret(): string {
  return `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(SECRET_BYTES))))}`;
}

const SECRET_BYTES = 24;
