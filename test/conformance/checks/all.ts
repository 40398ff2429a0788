/** All checks of the conformance kit, in their order. */
import type { Contract } from "../../../openapi/document/read-contract.ts";
import type { Check } from "../preconditions.ts";
import { constraintChecks } from "./constraints.ts";
import { DELIVERY_CHECKS } from "./deliveries.ts";
import { exampleChecks } from "./examples.ts";
import { KEY_CHECKS } from "./keys.ts";
import { FIRST_STATUS_CHECKS, PAYMENT_CHECKS } from "./payments.ts";
import { AMOUNT_CHECKS, REFERENCE_CHECKS } from "./refunds.ts";
import { ORDER_CHECKS, PROBLEM_CHECKS, REQUEST_CHECKS } from "./requests.ts";
import { RESPONSE_CHECKS } from "./responses.ts";
import { SUBSCRIPTION_CHECKS } from "./subscriptions.ts";

export function allChecks(contract: Contract): Check[] {
  return [
    ...exampleChecks(contract),
    ...FIRST_STATUS_CHECKS,
    ...REFERENCE_CHECKS,
    ...AMOUNT_CHECKS,
    ...KEY_CHECKS,
    ...PAYMENT_CHECKS,
    ...SUBSCRIPTION_CHECKS,
    ...DELIVERY_CHECKS,
    ...REQUEST_CHECKS,
    ...PROBLEM_CHECKS,
    ...ORDER_CHECKS,
    ...constraintChecks(contract),
    ...RESPONSE_CHECKS,
  ];
}
