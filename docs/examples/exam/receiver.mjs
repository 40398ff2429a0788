// The receiver of webhooks: it keeps the latest status of each refund.
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { expressWebhookHandler } from "@refund-contract/client";
import { read, write } from "./store.mjs";

const STATUSES = ["PENDING", "AUTHORIZED", "TERMINAL_FAILED"];

const receive = expressWebhookHandler({
  secretKey: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", // in production from your settings
  onError: () => {}, // in production to your log
  onUnknownEvent: () => {},
  onEvent: ({ type, sequence, data }) => {
    if (!type.startsWith("refund.") || !STATUSES.includes(data.paymentStatus)) return;
    const refund = read(data.clientReferenceId) ?? { requestKey: data.requestKey, sequence: 0 };
    if (sequence <= refund.sequence) return; // a repeat, or older
    write(data.clientReferenceId, { ...refund, sequence, status: data.paymentStatus });
  },
});

createServer(receive).listen(4000, () => writeFileSync("receiver.pid", String(process.pid)));
