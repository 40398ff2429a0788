import { useEffect, useState } from "preact/hooks";
import type { components } from "../../../../openapi/generated/types.ts";
import { type Problem, published, type SandboxSchemas, sandbox, useLoaded } from "../data/api.ts";
import { toDollars } from "../data/format.ts";
import { Form } from "../parts/form.tsx";
import { Empty, Facts, PageHead, ProblemText, Status, Time, toHash } from "../parts/parts.tsx";
import { RefundedBar, Timeline } from "../parts/timeline.tsx";
import { inDollars } from "./payments.tsx";

type Debit = SandboxSchemas["Debit"];
type Refund = SandboxSchemas["RefundRecord"];

/** The largest page of the contract: the newest refunds of the payment. */
const LIMIT = 100;

/** One payment with its refunds; the link of a refund leads to its payment. */
export function Payment({ paymentId }: { paymentId: string }) {
  const { data, problem } = useLoaded(`payment ${paymentId}`, ["payments", "clock"], () =>
    loadPayment(paymentId),
  );
  return (
    <section>
      {!data && <PageHead up={UP} title={<bdi>{paymentId}</bdi>} />}
      <ProblemText problem={problem} />
      {data && <PaymentDetails {...data} asked={paymentId} />}
    </section>
  );
}

const UP = { view: "payments", label: "Payments" };

type Details = { payment: Debit; refunds: Refund[]; more: boolean };

async function loadPayment(paymentId: string): Promise<{ data?: Details; error?: unknown }> {
  const found = await sandbox.GET("/sandbox/payments/{paymentId}", { params: { path: { paymentId } } });
  if (!found.data) return { error: found.error };
  if (found.data.kind === "REFUND") return loadPayment(found.data.originalPaymentId);
  const query = { kind: "REFUND" as const, originalPaymentId: found.data.paymentId, limit: LIMIT };
  const { data, error } = await sandbox.GET("/sandbox/payments", { params: { query } });
  if (!data) return { error };
  // The filters leave refunds only, which the type does not know.
  return { data: { payment: found.data, refunds: data.items as Refund[], more: data.nextCursor !== null } };
}

/** The transitions of an original payment (D16a), and the statuses from which there is one. */
const TRANSITIONS = [
  { label: "Settle", to: "settle", from: ["PROCESSING"] },
  { label: "Fail", to: "fail", from: ["PROCESSING", "SETTLED"] },
  { label: "Cover", to: "cover", from: ["SETTLED"] },
] as const;

function PaymentDetails({ payment, refunds, more, asked }: Details & { asked: string }) {
  const { paymentId, status, settledAt, clientReferenceId, requestKey } = payment;
  const [problem, setProblem] = useState<Problem>();
  const change = async (to: (typeof TRANSITIONS)[number]["to"]) => {
    const { error } = await sandbox.POST(`/sandbox/payments/{paymentId}/${to}`, {
      params: { path: { paymentId } },
    });
    setProblem(error as Problem | undefined);
  };
  return (
    <>
      <PageHead up={UP} title={<bdi>{paymentId}</bdi>}>
        {TRANSITIONS.map(({ label, to, from }) => (
          <button
            key={to}
            type="button"
            disabled={!from.some((one) => one === status)}
            onClick={() => change(to)}
          >
            {label}
          </button>
        ))}
      </PageHead>
      <ProblemText problem={problem} />
      <div class="card">
        <p class="row lead">
          <strong class="amount">{toDollars(payment.amount)}</strong>
          <Status value={status} />
        </p>
        <RefundedBar payment={payment} />
        <p>{toDollars(payment.refundableAmount)} left to refund</p>
        <Facts
          facts={[
            ["Settled", settledAt ? <Time key="at" at={settledAt} /> : "not yet"],
            ["Your reference", clientReferenceId !== null ? <bdi>{clientReferenceId}</bdi> : null],
            ["requestKey", requestKey !== null ? <bdi>{requestKey}</bdi> : null],
            ["History", payment.history.map(({ status: was }) => was).join(" → ")],
          ]}
        />
        <p class="row">
          <a href={toHash("requests", paymentId)}>Its requests</a>
          <a href={toHash("about", paymentId)}>Its events</a>
        </p>
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
        <RefundCard
          key={refund.paymentId}
          refund={refund}
          payment={payment}
          asked={refund.paymentId === asked}
        />
      ))}
      {more && <p class="quiet">These are the newest {LIMIT}.</p>}
    </>
  );
}

function RefundCard({ refund, payment, asked }: { refund: Refund; payment: Debit; asked: boolean }) {
  const { paymentId, paymentStatus, clientReferenceId, softDescriptor, requestKey } = refund;
  const id = `refund-${paymentId}`;
  useEffect(() => {
    if (asked) document.getElementById(id)?.scrollIntoView({ block: "center" });
  }, [asked]);
  return (
    <article class={asked ? "card asked" : "card"} id={id} aria-label={`Refund ${paymentId}`}>
      <p class="row lead">
        <strong class="amount">{toDollars(refund.amount)}</strong>
        <Status value={paymentStatus} />
        <a class="id" href={toHash("payments", paymentId)}>
          {paymentId}
        </a>
      </p>
      <Timeline refund={refund} payment={payment} />
      <Facts
        facts={[
          ["requestKey", <bdi key="key">{requestKey}</bdi>],
          ["Your reference", clientReferenceId != null ? <bdi>{clientReferenceId}</bdi> : null],
          ["softDescriptor", softDescriptor],
        ]}
      />
      <p class="row">
        <a href={toHash("requests", paymentId)}>Its requests</a>
        <a href={toHash("about", paymentId)}>Its events</a>
      </p>
    </article>
  );
}

function IssueRefund({ payment: { paymentId, refundableAmount } }: { payment: Debit }) {
  const send = async (body: object) => {
    const {
      amount,
      requestKey = newKey(),
      ...fields
    } = body as Partial<components["schemas"]["RefundRequest"]>;
    const { error } = await published.POST("/v1/refunds", {
      body: { ...fields, paymentId, requestKey, amount: inDollars(amount) },
    });
    return error as Problem | undefined;
  };
  return (
    <Form
      form="RefundRequest"
      submit="Issue refund"
      send={send}
      fields={[
        { at: "/amount/value", label: "Amount in dollars", value: refundableAmount.value.toFixed(2) },
        { at: "/requestKey", label: "requestKey", empty: "a new one if empty" },
        { at: "/clientReferenceId", label: "Your reference" },
        { at: "/softDescriptor", label: "softDescriptor" },
      ]}
    />
  );
}

const newKey = () => `console-${crypto.randomUUID()}`;
