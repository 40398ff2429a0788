import { type SandboxSchemas, sandbox, useLoaded } from "../parts/api.ts";
import { List } from "../parts/list.tsx";
import { usePaged } from "../parts/paged.ts";
import { Body, Facts, PageHead, ProblemText, Resource, Time, toHash } from "../parts/parts.tsx";
import { DeliveryList } from "./deliveries.tsx";

type EventRecord = SandboxSchemas["EventRecord"];

const LIMIT = 100;

/** Every event, newest first, or those about one record. */
export function Events({ resourceId }: { resourceId: string }) {
  const paged = usePaged<EventRecord>({
    key: `events ${resourceId}`,
    topics: ["payments", "webhooks", "clock"],
    idOf,
    load: (cursor) =>
      sandbox.GET("/sandbox/events", {
        params: { query: { limit: LIMIT, ...(resourceId !== "" && { resourceId }), ...cursor } },
      }),
  });
  return (
    <section>
      {resourceId === "" ? (
        <PageHead title="Events" />
      ) : (
        <PageHead up={{ view: "events", label: "Events" }} title={<bdi>Events of {resourceId}</bdi>} />
      )}
      <List
        name="Events"
        paged={paged}
        idOf={idOf}
        empty="No events yet. Each change of a payment or refund emits one."
        columns={[
          {
            head: "Event",
            kind: "main",
            cell: ({ eventId, type }) => <a href={toHash("events", eventId)}>{type}</a>,
          },
          { head: "Resource", kind: "record", cell: ({ resourceId: about }) => <Resource id={about} /> },
          { head: "Sequence", kind: "number", cell: ({ sequence }) => sequence },
          { head: "Occurred", kind: "time", cell: ({ occurredAt }) => <Time at={occurredAt} /> },
        ]}
      />
    </section>
  );
}

const idOf = ({ eventId }: EventRecord) => eventId;

/** One event, and where it was sent. */
export function Event({ eventId }: { eventId: string }) {
  const { data, problem } = useLoaded(`event ${eventId}`, ["webhooks"], () =>
    sandbox.GET("/sandbox/events/{eventId}", { params: { path: { eventId } } }),
  );
  return (
    <section>
      <PageHead up={{ view: "events", label: "Events" }} title={data?.type ?? "Event"} />
      <ProblemText problem={problem} />
      {data && (
        <>
          <div class="card">
            <Facts
              facts={[
                ["Resource", <Resource key="about" id={data.resourceId} />],
                ["Sequence", data.sequence],
                ["Occurred", <Time key="at" at={data.occurredAt} />],
                [
                  "eventId",
                  <span key="id" class="id">
                    {data.eventId}
                  </span>,
                ],
              ]}
            />
          </div>
          <Body label="Payload" text={data.payload} />
          <h2>Deliveries</h2>
          <DeliveryList of={{ eventId }} empty="Not delivered: no subscription included this event." />
        </>
      )}
    </section>
  );
}
