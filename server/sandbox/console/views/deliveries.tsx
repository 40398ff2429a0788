import type { ComponentChildren } from "preact";
import { type SandboxSchemas, sandbox, useLoaded } from "../data/api.ts";
import { usePaged } from "../data/paged.ts";
import { List } from "../parts/list.tsx";
import {
  Body,
  Code,
  Empty,
  Facts,
  Id,
  PageHead,
  ProblemText,
  RealTime,
  Resource,
  Status,
  Time,
  toHash,
} from "../parts/parts.tsx";

type DeliveryRecord = SandboxSchemas["Delivery"];
type Attempt = SandboxSchemas["SentAttempt"];

const LIMIT = 100;

/** Deliveries, newest first, of all subscriptions, of one, or of one event. */
export function DeliveryList({
  of: filter,
  empty,
}: {
  of: { subscriptionKey?: string; eventId?: string };
  empty: ComponentChildren;
}) {
  const paged = usePaged<DeliveryRecord>({
    key: `deliveries ${JSON.stringify(filter)}`,
    topics: ["webhooks"],
    idOf,
    load: (cursor) =>
      sandbox.GET("/sandbox/deliveries", { params: { query: { limit: LIMIT, ...filter, ...cursor } } }),
  });
  return (
    <List
      name="Deliveries"
      paged={paged}
      idOf={idOf}
      empty={empty}
      columns={[
        {
          head: "Event",
          kind: "main",
          cell: ({ webhookId, type, resourceId }) => (
            <>
              <a href={toHash("deliveries", webhookId)}>{type}</a>
              <bdi class="quiet reference">{resourceId}</bdi>
            </>
          ),
        },
        { head: "State", kind: "state", cell: ({ state }) => <Status value={state} /> },
        { head: "Last response", kind: "short", cell: ({ attempts }) => <LastResponse of={attempts} /> },
        { head: "Attempts", kind: "number", cell: ({ attempts }) => attempts.length },
        {
          head: "Next attempt",
          kind: "time",
          cell: ({ dueAt }) => (dueAt ? <Time at={dueAt} /> : <span class="quiet">none</span>),
        },
      ]}
    />
  );
}

const idOf = ({ webhookId }: DeliveryRecord) => webhookId;

function LastResponse({ of: attempts }: { of: DeliveryRecord["attempts"] }) {
  const last = attempts.at(-1);
  return last ? <Code status={last.status} /> : <span class="quiet">none yet</span>;
}

/** One delivery with everything that was sent and received. */
export function Delivery({ webhookId }: { webhookId: string }) {
  const path = { params: { path: { webhookId } } };
  const { data, problem } = useLoaded(`delivery ${webhookId}`, ["webhooks"], () =>
    sandbox.GET("/sandbox/deliveries/{webhookId}", path),
  );
  return (
    <section>
      <PageHead up={{ view: "webhooks", label: "Webhooks" }} title={data?.type ?? "Delivery"}>
        {data && (
          <button
            type="button"
            class="primary"
            onClick={() => sandbox.POST("/sandbox/deliveries/{webhookId}/redeliver", path)}
          >
            Redeliver
          </button>
        )}
      </PageHead>
      <ProblemText problem={problem} />
      {data && (
        <>
          <div class="card">
            <p class="row lead">
              <Status value={data.state} />
              {data.dueAt && (
                <span>
                  next attempt <Time at={data.dueAt} /> by the sandbox's clock
                </span>
              )}
            </p>
            <Facts
              facts={[
                ["About", <Resource key="about" id={data.resourceId} />],
                ["Event", <Id key="event" view="events" id={data.eventId} />],
                ["Subscription", <Id key="subscription" view="subscriptions" id={data.subscriptionKey} />],
                ["To", <bdi key="url">{data.url}</bdi>],
                [
                  "webhook-id",
                  <span key="id" class="id">
                    {data.webhookId}
                  </span>,
                ],
              ]}
            />
          </div>
          <Body label="Payload" text={data.payload} />
          <h2>Attempts</h2>
          {data.attempts.length === 0 && <Empty>Not attempted yet.</Empty>}
          {data.attempts.map((attempt, index) => (
            <AttemptCard key={`${index}${attempt.at}`} attempt={attempt} number={index + 1} />
          ))}
        </>
      )}
    </section>
  );
}

function AttemptCard({ attempt, number }: { attempt: Attempt; number: number }) {
  const { at, domainAt, status, error, milliseconds, headers, responseBody } = attempt;
  const sent = Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`);
  return (
    <article class="card" aria-label={`Attempt ${number}`}>
      <p class="row lead">
        <Code status={status} />
        <strong>Attempt {number}</strong>
        {error !== null && <span>{error}</span>}
      </p>
      <Facts
        facts={[
          ["Sandbox's clock", domainAt !== null ? <Time key="domain" at={domainAt} /> : null],
          ["Real time, UTC", <RealTime key="real" at={at} />],
          ["Took", `${milliseconds} ms`],
        ]}
      />
      <div class="columns">
        <Body label="Signed headers" text={sent.length > 0 ? sent.join("\n") : null} />
        <Body label="Response of the receiver" text={responseBody} />
      </div>
    </article>
  );
}
