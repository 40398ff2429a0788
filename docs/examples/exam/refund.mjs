// Issues the refund that the exam asks for in its variables. Run again after a crash, it repeats the call with the stored key.
import { CallError, createClient, newRequestKey } from "@refund-contract/client";
import { read, write } from "./store.mjs";

const { CERTIFY_URL, CERTIFY_TOKEN, CERTIFY_PAYMENT_ID, CERTIFY_AMOUNT, CERTIFY_REFERENCE } = process.env;
const client = createClient({ baseUrl: CERTIFY_URL, accessToken: CERTIFY_TOKEN });

const repeated = read(CERTIFY_REFERENCE) !== undefined; // by a run that was interrupted
if (!repeated) write(CERTIFY_REFERENCE, { requestKey: newRequestKey(), sequence: 0 }); // before the call
const { requestKey } = read(CERTIFY_REFERENCE);
try {
  const refund = await client.refunds.issue(
    {
      paymentId: CERTIFY_PAYMENT_ID,
      amount: CERTIFY_AMOUNT,
      clientReferenceId: CERTIFY_REFERENCE,
      requestKey,
    },
    { repeated },
  );
  const stored = read(CERTIFY_REFERENCE);
  if (stored.sequence === 0) write(CERTIFY_REFERENCE, { ...stored, status: refund.paymentStatus });
} catch (error) {
  if (!(error instanceof CallError)) throw error;
  console.log(error.message); // if error.outcomeUnknown, it is run again with the stored key
}
