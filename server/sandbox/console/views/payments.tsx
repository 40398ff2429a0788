import { Id, PageHead, Status, Time, toHash } from "../ui/elements.tsx";
import { toDollars } from "../ui/format-values.ts";
import { Filters, toQuery, useFilter } from "../ui/list-filters.tsx";
import { usePaged } from "../ui/paged-list.ts";
import { List } from "../ui/record-list.tsx";
import { Fold, Form } from "../ui/request-form.tsx";
import { type Page, type Result, type SandboxSchemas, sandbox } from "../ui/sandbox-api.ts";

/** Every original payment, newest first. */
export function Payments() {
  const [filter, change] = useFilter(STATUSES);
  const paged = usePaged<Debit>({
    key: `payments ${toQuery(filter)}`,
    topics: ["payments"],
    load: (cursor) => {
      const query = { kind: "DEBIT" as const, limit: LIMIT, ...filter, ...cursor };
      // The kind leaves out refunds, which the type does not know.
      return sandbox.GET("/sandbox/payments", { params: { query } }) as Promise<Result<Page<Debit>>>;
    },
  });
  return (
    <section>
      <PageHead title="Payments" />
      <Fold label="New payment">
        <Form
          form="NewPayment"
          submit="Create payment"
          send={create}
          fields={[
            { at: "/amount/value", label: "Amount in dollars" },
            { at: "/status", label: "Status", empty: "SETTLED" },
            { at: "/clientReferenceId", label: "Your reference" },
            { at: "/requestKey", label: "requestKey" },
            { at: "/settledAt", label: "settledAt", empty: "30 days ago if empty" },
          ]}
        />
      </Fold>
      <Filters
        label="Status"
        statuses={STATUSES}
        textLabel="Identifier, reference or requestKey"
        filter={filter}
        change={change}
      />
      <List
        name="Payments"
        paged={paged}
        idOf={idOf}
        empty={
          toQuery(filter) === ""
            ? "No payments. Create one above, or reset the sandbox to restore its initial records."
            : "No matching payments."
        }
        columns={[
          {
            head: "Payment",
            kind: "main",
            cell: ({ paymentId, clientReferenceId }) => (
              <>
                <Id view="payments" id={paymentId} />
                {clientReferenceId !== null && <bdi class="quiet reference">{clientReferenceId}</bdi>}
              </>
            ),
          },
          { head: "Status", kind: "state", cell: ({ status }) => <Status value={status} /> },
          { head: "Amount", kind: "money", cell: ({ amount }) => toDollars(amount) },
          { head: "Left to refund", kind: "money", cell: (payment) => toDollars(leftToRefund(payment)) },
          {
            head: "Settled",
            kind: "time",
            cell: ({ settledAt }) =>
              settledAt ? <Time at={settledAt} /> : <span class="quiet">not settled</span>,
          },
        ]}
      />
    </section>
  );
}

type Debit = SandboxSchemas["Debit"];

const LIMIT = 100;
const STATUSES = ["PROCESSING", "SETTLED", "FAILED", "COVERED"] as const;

const idOf = ({ paymentId }: Debit) => paymentId;

async function create(body: object): Promise<Result<unknown>> {
  const { amount, ...fields } = body as Partial<SandboxSchemas["NewPayment"]>;
  const created = await sandbox.POST("/sandbox/payments", { body: { ...fields, amount: inDollars(amount) } });
  if (created.data) location.hash = toHash("payments", created.data.paymentId);
  return created;
}

/** Nothing can be refunded of a payment that has failed or is covered, however little was refunded before (D12). */
export function leftToRefund({ status, refundableAmount }: Debit): { value: number } {
  return status === "FAILED" || status === "COVERED" ? { value: 0 } : refundableAmount;
}

/** The form asks for the value only. */
export const inDollars = (amount: { value?: number } = {}) =>
  ({ currency: "USD", ...amount }) as { currency: "USD"; value: number };
