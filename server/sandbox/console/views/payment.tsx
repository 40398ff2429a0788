import type { components } from "../../../../openapi/generated/types.ts";
import { Action, Empty, Facts, PageHead, ProblemText, Status, Time } from "../ui/elements.tsx";
import { toDollars } from "../ui/format-values.ts";
import { toQuery } from "../ui/list-filters.tsx";
import { RefundedBar } from "../ui/refund-timeline.tsx";
import { Form } from "../ui/request-form.tsx";
import { published, type SandboxSchemas, sandbox, useLoaded } from "../ui/sandbox-api.ts";
import { inDollars, leftToRefund } from "./payments.tsx";
import { type Refund, RefundCard, RefundPage, Related } from "./refunds.tsx";

/** A payment with its refunds, or a refund. */
export function Payment({ paymentId }: { paymentId: string }) {
  const { data, problem } = useLoaded(`payment ${paymentId}`, ["payments", "clock"], () =>
    loadPayment(paymentId),
  );
  return (
    <section>
      {!data && <PageHead up={UP} title={<bdi>{paymentId}</bdi>} />}
      <ProblemText problem={problem} />
      {data && (data.refund ? <RefundPage {...data} refund={data.refund} /> : <PaymentDetails {...data} />)}
    </section>
  );
}

type Debit = SandboxSchemas["Debit"];

/** How many refunds of a payment are shown on its page, the newest; the list of refunds has them all. */
const NEWEST = 20;

const UP = { view: "payments", label: "Payments" };

/** Either one refund, or the newest of the payment. */
type Details = { payment: Debit; refund?: Refund; refunds: Refund[]; more: boolean };

async function loadPayment(paymentId: string): Promise<{ data?: Details; error?: unknown }> {
  const found = await sandbox.GET("/sandbox/payments/{paymentId}", { params: { path: { paymentId } } });
  if (!found.data) return { error: found.error };
  if (found.data.kind === "REFUND") {
    const path = { paymentId: found.data.originalPaymentId };
    const { data, error } = await sandbox.GET("/sandbox/payments/{paymentId}", { params: { path } });
    if (!data) return { error };
    return { data: { payment: data as Debit, refund: found.data as Refund, refunds: [], more: false } };
  }
  const query = { kind: "REFUND" as const, originalPaymentId: found.data.paymentId, limit: NEWEST };
  const { data, error } = await sandbox.GET("/sandbox/payments", { params: { query } });
  if (!data) return { error };
  // The filters leave refunds only, which the type does not know.
  return { data: { payment: found.data, refunds: data.items as Refund[], more: data.nextCursor !== null } };
}

/** The transitions of an original payment (D16a), and the statuses from which there is one. */
const TRANSITIONS = [
  { label: "Settle", to: "settle", from: ["PROCESSING"] },
  { label: "Fail", to: "fail", from: ["PROCESSING", "SETTLED"] },
  { label: "Mark as covered", to: "cover", from: ["SETTLED"] },
] as const;

function PaymentDetails({ payment, refunds, more }: Details) {
  const { paymentId, status, settledAt, clientReferenceId, requestKey } = payment;
  const left = leftToRefund(payment);
  const notSettled = status === "FAILED" ? "never" : "not yet";
  return (
    <>
      <PageHead up={UP} title={<bdi>{paymentId}</bdi>}>
        {TRANSITIONS.map(({ label, to, from }) => (
          <Action
            key={to}
            disabled={!from.some((start) => start === status)}
            call={() =>
              sandbox.POST(`/sandbox/payments/{paymentId}/${to}`, { params: { path: { paymentId } } })
            }
          >
            {label}
          </Action>
        ))}
      </PageHead>
      <div class="card">
        <p class="row lead">
          <strong class="amount">{toDollars(payment.amount)}</strong>
          <Status value={status} />
        </p>
        <RefundedBar payment={payment} />
        <p>{left.value === 0 ? "Nothing left to refund" : `${toDollars(left)} left to refund`}</p>
        <Facts
          facts={[
            ["Settled", settledAt ? <Time key="at" at={settledAt} /> : notSettled],
            ["Your reference", clientReferenceId !== null ? <bdi>{clientReferenceId}</bdi> : null],
            ["requestKey", requestKey !== null ? <bdi>{requestKey}</bdi> : null],
            ["History", payment.history.map(({ status: was }) => was).join(" → ")],
          ]}
        />
        <Related id={paymentId} />
      </div>
      <h2>Issue a refund</h2>
      <div class="card">
        <IssueRefund payment={payment} />
      </div>
      <h2>Refunds</h2>
      {refunds.length === 0 && (
        <Empty>No refunds yet. The form above issues one, as your server would.</Empty>
      )}
      {refunds.map((refund) => (
        <RefundCard key={refund.paymentId} refund={refund} payment={payment} />
      ))}
      {more && (
        <p class="end">
          These are the newest {NEWEST}.{" "}
          <a href={`#/refunds${toQuery({ text: paymentId })}`}>All refunds of this payment</a>
        </p>
      )}
    </>
  );
}

/** The requestKey changes after each refund that was issued, and stays for a repetition of one that was not. */
function IssueRefund({ payment }: { payment: Debit }) {
  const { paymentId, amount: whole } = payment;
  const send = (body: object) => {
    const { amount, ...fields } = body as Omit<components["schemas"]["RefundRequest"], "paymentId">;
    return published.POST("/v1/refunds", { body: { ...fields, paymentId, amount: inDollars(amount) } });
  };
  const { value } = leftToRefund(payment);
  return (
    <Form
      form="RefundRequest"
      submit="Issue refund"
      send={send}
      fields={[
        { at: "/amount/value", label: "Amount in dollars", value: (value || whole.value).toFixed(2) },
        {
          at: "/requestKey",
          label: "requestKey",
          fresh: { label: "New key", make: () => `console-${crypto.randomUUID()}` },
          hint: "keep it to repeat a refund whose outcome is unknown",
        },
        { at: "/clientReferenceId", label: "Your reference" },
        { at: "/softDescriptor", label: "softDescriptor" },
      ]}
    />
  );
}
