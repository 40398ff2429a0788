import { type Page, type Problem, type Result, type SandboxSchemas, sandbox } from "../data/api.ts";
import { toDollars } from "../data/format.ts";
import { usePaged } from "../data/paged.ts";
import { Fold, Form } from "../parts/form.tsx";
import { List } from "../parts/list.tsx";
import { Id, PageHead, Status, Time, toHash } from "../parts/parts.tsx";

type Debit = SandboxSchemas["Debit"];

const LIMIT = 100;

/** Every original payment, newest first. */
export function Payments() {
  const paged = usePaged<Debit>({
    key: "payments",
    topics: ["payments"],
    idOf,
    load: (cursor) =>
      // The filter leaves out refunds, which the type does not know.
      sandbox.GET("/sandbox/payments", {
        params: { query: { kind: "DEBIT", limit: LIMIT, ...cursor } },
      }) as Promise<Result<Page<Debit>>>,
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
      <List
        name="Payments"
        paged={paged}
        idOf={idOf}
        empty="No payments. Make one above, or reset the sandbox to get its first records back."
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
          {
            head: "Left to refund",
            kind: "money",
            cell: ({ refundableAmount }) => toDollars(refundableAmount),
          },
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

const idOf = ({ paymentId }: Debit) => paymentId;

async function create(body: object): Promise<Problem | undefined> {
  const { amount, ...fields } = body as Partial<SandboxSchemas["NewPayment"]>;
  const { data, error } = await sandbox.POST("/sandbox/payments", {
    body: { ...fields, amount: inDollars(amount) },
  });
  if (data) location.hash = toHash("payments", data.paymentId);
  return error as Problem | undefined;
}

/** The form asks for the value only. */
export const inDollars = (amount: { value?: number } = {}) =>
  ({ currency: "USD", ...amount }) as { currency: "USD"; value: number };
