import type { ComponentChildren } from "preact";
import {
  Action,
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
  Until,
} from "../ui/elements.tsx";
import { Filters, toQuery, useFilter } from "../ui/list-filters.tsx";
import { usePaged } from "../ui/paged-list.ts";
import { List } from "../ui/record-list.tsx";
import { type SandboxSchemas, sandbox, useLoaded } from "../ui/sandbox-api.ts";

/** Deliveries, newest first, of all subscriptions, of one, or of one event. */
export function DeliveryList({
  of: owner,
  empty,
}: {
  of: { subscriptionKey?: string; eventId?: string };
  empty: ComponentChildren;
}) {
  const [filter, change] = useFilter(STATES);
  const { status: state, ...text } = filter;
  const chosen = { ...owner, ...text, ...(state && { state }) };
  const paged = usePaged<DeliveryRecord>({
    key: `deliveries ${JSON.stringify(chosen)}`,
    topics: ["webhooks"],
    load: (cursor) =>
      sandbox.GET("/sandbox/deliveries", { params: { query: { limit: LIMIT, ...chosen, ...cursor } } }),
  });
  const filters = (
    <Filters
      label="State"
      statuses={STATES}
      textLabel="Event, resource or webhook-id"
      filter={filter}
      change={change}
    />
  );
  return (
    <>
      {filters}
      <List
        name="Deliveries"
        paged={paged}
        idOf={idOf}
        empty={toQuery(filter) === "" ? empty : "No matching deliveries."}
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
            cell: ({ dueAt }) => (dueAt ? <Until at={dueAt} /> : <span class="quiet">none</span>),
          },
        ]}
      />
    </>
  );
}

type DeliveryRecord = SandboxSchemas["Delivery"];
type Attempt = SandboxSchemas["SentAttempt"];

const LIMIT = 100;

const STATES = ["PENDING", "DELIVERED", "EXHAUSTED", "ENDED"] as const;

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
          <Action primary call={() => sandbox.POST("/sandbox/deliveries/{webhookId}/redeliver", path)}>
            Redeliver
          </Action>
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
                  Next attempt <Until at={data.dueAt} />, <Time at={data.dueAt} />, by the sandbox's clock
                </span>
              )}
            </p>
            <Facts
              facts={[
                ["Resource", <Resource key="about" id={data.resourceId} />],
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
  const { at, domainAt, status, error, milliseconds, headers, responseBody, fault } = attempt;
  const sent = Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`);
  return (
    <article class="card" aria-label={`Attempt ${number}`}>
      <p class="row lead">
        <Code status={status} />
        <strong>Attempt {number}</strong>
        {error !== null && <span>{error}</span>}
        {fault !== null && <a href="#/faults">Fault {fault}</a>}
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
