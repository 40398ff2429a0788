import type { components } from "../../openapi/generated/payment-line-types.ts";
import { fromCents } from "../domain/money.ts";
import type { listPayouts, Payout } from "../storage/payments/payouts.ts";
import type { Bound } from "../storage/storage.ts";
import { type Output, toJsonLine } from "./output.ts";

type PayoutLine = components["schemas"]["PayoutLine"];

export type PayoutOptions = {
  store: Bound<{ listPayouts: typeof listPayouts }>;
  output: Output;
};

/**
 * Prints the payout feed after a cursor, one JSON object on each line.
 *
 * @returns whether the feed has come as far as the cursor
 */
export async function printPayouts(
  { store, output }: PayoutOptions,
  page: { after: number; limit: number },
): Promise<boolean> {
  const payouts = await store.listPayouts(page);
  if (payouts === "unknown-cursor") {
    output.complain(
      `--after ${page.after} lies after the present. Correct it, or the clock of the database: nothing that is published now would come after it.`,
    );
    return false;
  }
  for (const payout of payouts) output.print(toJsonLine(toPayoutLine(payout)));
  return true;
}

function toPayoutLine({ amountCents, authorizedAt, ...payout }: Payout): PayoutLine {
  return {
    ...payout,
    amount: { currency: "USD", value: fromCents(amountCents) },
    status: "AUTHORIZED",
    authorizedAt: authorizedAt.toISOString(),
  };
}
