import type { Constraint } from "../lib/constraints/constraint.ts";

/** Requests in the form that `test.each` takes: all that are about one constraint, under its name. */
export function byConstraint<Request extends { readonly constraint: Constraint }>(
  requests: readonly Request[],
): [id: string, requests: Request[]][] {
  return [...Map.groupBy(requests, ({ constraint }) => constraint.id)];
}
