import type { Constraint } from "../../openapi/document/constraints.ts";

/** Requests in the form that `test.each` takes: one row for each constraint, with its name and its requests. */
export function byConstraint<Request extends { readonly constraint: Constraint }>(
  requests: readonly Request[],
): [id: string, requests: Request[]][] {
  return [...Map.groupBy(requests, ({ constraint }) => constraint.id)];
}
