import { styleText } from "node:util";
import type { WebhookEvent } from "../../client/src/index.ts";

type Stream = NodeJS.WritableStream;

const COLORS = {
  "refund.pending": "yellow",
  "refund.authorized": "green",
  "refund.terminal_failed": "red",
  "payment.settled": "green",
  "payment.failed": "red",
  "payment.covered": "red",
  "account.linked": "cyan",
  "account.unlinked": "cyan",
  "customer.created": "cyan",
  unknown: "magenta",
} as const satisfies Record<WebhookEvent["type"], Parameters<typeof styleText>[0]>;

const TYPE_WIDTH = "refund.terminal_failed".length;
const ID_WIDTH = "rfd_00000000-0000-0000-0000-000000000000".length;

/** An event as one line for people: time, type, id, what is told of it, sequence. Coloured when `stream` is a terminal. */
export function formatEvent(event: WebhookEvent, stream: Stream): string {
  const paint = (color: Parameters<typeof styleText>[0], text: string) => styleText(color, text, { stream });
  const { id, details } = describeData(event);
  const type = event.type === "unknown" ? event.name : event.type;
  const columns = [
    paint("dim", printable(event.timestamp.slice(0, 19).replace("T", " "))),
    paint(COLORS[event.type], printable(type).padEnd(TYPE_WIDTH)),
    printable(id).padEnd(ID_WIDTH),
    paint("dim", `#${event.sequence}`),
    printable(details),
  ];
  return columns.join("  ").trimEnd();
}

function describeData(event: WebhookEvent): { id: string; details: string } {
  switch (event.type) {
    case "refund.pending":
    case "refund.authorized":
      return {
        id: event.data.paymentId,
        details: join(event.data.paymentStatus, event.data.clientReferenceId),
      };
    case "refund.terminal_failed": {
      const { paymentId, paymentStatus, errorDetails, clientReferenceId } = event.data;
      return { id: paymentId, details: join(paymentStatus, errorDetails.errorCode, clientReferenceId) };
    }
    case "payment.settled":
    case "payment.failed":
    case "payment.covered": {
      const { paymentId, status, amount } = event.data;
      return { id: paymentId, details: join(status, amount.value.toFixed(2), amount.currency) };
    }
    case "account.linked":
    case "account.unlinked":
      return { id: event.data.accountId, details: "" };
    case "customer.created":
      return { id: event.data.customerId, details: "" };
    case "unknown":
      return { id: "", details: JSON.stringify(event.data) };
  }
}

function join(...words: readonly (string | null)[]): string {
  return words.filter((word) => word !== null).join(" ");
}

/** Names come from callers: a control character among them could rewrite what the terminal shows. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "�");
}
