import type { Contract } from "../../contract.ts";
import type { Check } from "../check.ts";
import { ACCESS_CHECKS } from "./access.ts";
import { AMOUNT_CHECKS } from "./amounts.ts";
import { ANSWER_CHECKS } from "./answers.ts";
import { BODY_CHECKS } from "./bodies.ts";
import { constraintChecks } from "./constraints.ts";
import { DELIVERY_CHECKS } from "./deliveries.ts";
import { exampleChecks } from "./examples.ts";
import { FIRST_STATUS_CHECKS } from "./first-status.ts";
import { KEY_CHECKS } from "./keys.ts";
import { NEGOTIATION_CHECKS } from "./negotiation.ts";
import { ORDER_CHECKS } from "./order.ts";
import { PATH_CHECKS } from "./paths.ts";
import { PAYMENT_CHECKS } from "./payments.ts";
import { PROBLEM_CHECKS } from "./problems.ts";
import { REFERENCE_CHECKS } from "./references.ts";
import { scenarioChecks } from "./scenarios.ts";
import { SUBSCRIPTION_CHECKS } from "./subscriptions.ts";

/** Every check, in the order in which they are made. */
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
    ...PATH_CHECKS,
    ...ACCESS_CHECKS,
    ...NEGOTIATION_CHECKS,
    ...BODY_CHECKS,
    ...PROBLEM_CHECKS,
    ...ORDER_CHECKS,
    ...constraintChecks(contract),
    // They reset the merchant's data.
    ...scenarioChecks(),
    ...ANSWER_CHECKS,
  ];
}
