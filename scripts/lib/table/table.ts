import { callRows } from "./calls.ts";
import { refundRows } from "./refunds.ts";
import type { Row } from "./row.ts";
import { subscriptionRows } from "./subscriptions.ts";

/** Every call that server and mock are held to. */
export const requestTable: readonly Row[] = [...callRows, ...refundRows, ...subscriptionRows];
