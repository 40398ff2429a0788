import { Copy, Facts, Id, PageHead, Status, Time, toHash } from "../ui/elements.tsx";
import { toDollars } from "../ui/format-values.ts";
import { Filters, toQuery, useFilter } from "../ui/list-filters.tsx";
import { usePaged } from "../ui/paged-list.ts";
import { List } from "../ui/record-list.tsx";
import { type Course, Timeline } from "../ui/refund-timeline.tsx";
import { type Page, type Result, type SandboxSchemas, sandbox, useLoaded } from "../ui/sandbox-api.ts";

/** Every refund, newest first. */
export function Refunds() {
  const [filter, change] = useFilter(STATUSES);
  const paged = usePaged<Refund>({
    key: `refunds ${toQuery(filter)}`,
    topics: ["payments", "clock"],
    load: (cursor) => {
      const query = { kind: "REFUND" as const, limit: LIMIT, ...filter, ...cursor };
      // The kind leaves out original payments, which the type does not know.
      return sandbox.GET("/sandbox/payments", { params: { query } }) as Promise<Result<Page<Refund>>>;
    },
  });
  return (
    <section>
      <PageHead title="Refunds" />
      <Filters
        label="Status"
        statuses={STATUSES}
        textLabel="Identifier, payment, reference or requestKey"
        filter={filter}
        change={change}
      />
      <List
        name="Refunds"
        paged={paged}
        idOf={idOf}
        empty={
          toQuery(filter) === ""
            ? "No refunds yet. Open a payment to issue one, or call the API."
            : "No matching refunds."
        }
        columns={[
          {
            head: "Refund",
            kind: "main",
            cell: ({ paymentId, originalPaymentId, clientReferenceId }) => (
              <>
                <Id view="refunds" id={paymentId} />
                <bdi class="quiet reference">{clientReferenceId ?? `of ${originalPaymentId}`}</bdi>
              </>
            ),
          },
          { head: "Status", kind: "state", cell: ({ paymentStatus }) => <Status value={paymentStatus} /> },
          { head: "Amount", kind: "money", cell: ({ amount }) => toDollars(amount) },
          {
            head: "Due, or why it failed",
            kind: "reason",
            cell: ({ due, errorDetails }) => (due ? <Time at={due.at} /> : errorDetails?.errorCode),
          },
        ]}
      />
    </section>
  );
}

type Debit = SandboxSchemas["Debit"];
export type Refund = SandboxSchemas["RefundRecord"];

const LIMIT = 100;
const STATUSES = ["PENDING", "AUTHORIZED", "TERMINAL_FAILED"] as const;

const idOf = ({ paymentId }: Refund) => paymentId;

const UP = { view: "refunds", label: "Refunds" };

/** A refund on a page of its own, with the call that issued it and its webhooks. */
export function RefundPage({ refund, payment }: { refund: Refund; payment: Debit }) {
  const { paymentId } = refund;
  const { data: course } = useLoaded(`course ${paymentId}`, ["payments", "requests", "webhooks"], () =>
    loadCourse(paymentId),
  );
  return (
    <>
      <PageHead up={UP} title={<bdi>{paymentId}</bdi>} />
      <RefundCard refund={refund} payment={payment} {...(course && { course })} isPage />
    </>
  );
}

async function loadCourse(paymentId: string): Promise<Result<Course>> {
  const [requests, deliveries] = await Promise.all([
    sandbox.GET("/sandbox/requests", { params: { query: { limit: LIMIT, search: paymentId, status: 201 } } }),
    sandbox.GET("/sandbox/deliveries", { params: { query: { limit: LIMIT, text: paymentId } } }),
  ]);
  if (!requests.data || !deliveries.data) return { error: requests.error ?? deliveries.error };
  const [call] = requests.data.items;
  return { data: { call, deliveries: deliveries.data.items.toReversed() } };
}

type CardProps = {
  refund: Refund;
  payment: Debit;
  course?: Course;
  /** On its own page, which has its identifier as the title, a refund has no link to itself. */
  isPage?: boolean;
};

export function RefundCard({ refund, payment, course, isPage = false }: CardProps) {
  const { paymentId, paymentStatus, clientReferenceId, softDescriptor, requestKey } = refund;
  const traceId = refund.traceparent?.slice(3, 35);
  return (
    <article class="card" aria-label={`Refund ${paymentId}`}>
      <p class="row lead">
        <strong class="amount">{toDollars(refund.amount)}</strong>
        <Status value={paymentStatus} />
        {!isPage && <Id view="refunds" id={paymentId} />}
      </p>
      <Timeline refund={refund} payment={payment} {...(course && { course })} />
      <Facts
        facts={[
          ["Original payment", <Id key="original" view="payments" id={refund.originalPaymentId} />],
          ["requestKey", <bdi key="key">{requestKey}</bdi>],
          ["Your reference", clientReferenceId != null ? <bdi>{clientReferenceId}</bdi> : null],
          ["softDescriptor", softDescriptor],
          ["Trace", traceId !== undefined ? <TraceId id={traceId} /> : null],
        ]}
      />
      <Related id={paymentId} />
    </article>
  );
}

function TraceId({ id }: { id: string }) {
  return (
    <>
      <bdi>{id}</bdi> <Copy label="Copy" text={id} of="the trace id" />
    </>
  );
}

/** Links to the requests and events of a payment or a refund. */
export function Related({ id }: { id: string }) {
  return (
    <p class="row">
      <a href={toHash("requests", id)}>Requests</a>
      <a href={toHash("about", id)}>Events</a>
    </p>
  );
}
