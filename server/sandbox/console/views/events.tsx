import { PageHead, Resource, Time, toHash } from "../ui/elements.tsx";
import { usePaged } from "../ui/paged-list.ts";
import { List } from "../ui/record-list.tsx";
import { type SandboxSchemas, sandbox } from "../ui/sandbox-api.ts";
import { DeliveryList } from "./deliveries.tsx";

/** Every event, newest first, or those about one record. */
export function Events({ resourceId }: { resourceId: string }) {
  const paged = usePaged<EventRecord>({
    key: `events ${resourceId}`,
    topics: ["payments", "webhooks", "clock"],
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

type EventRecord = SandboxSchemas["EventRecord"];

const LIMIT = 100;

const idOf = ({ eventId }: EventRecord) => eventId;

/** Where an event was sent. */
export function Event({ eventId }: { eventId: string }) {
  return (
    <section>
      <PageHead up={{ view: "events", label: "Events" }} title={<bdi>Deliveries of {eventId}</bdi>} />
      <DeliveryList of={{ eventId }} empty="Not delivered: no subscription included this event." />
    </section>
  );
}
