import { assert, bodyOf, expectRefund } from "../assertions.ts";
import { type Check, defineGroup } from "../check.ts";
import { PRECONDITIONS, WITH_TOKEN } from "../preconditions.ts";
import { issue, refundOf } from "../valid-requests.ts";
import { expected } from "./expected.ts";

const MISSPELT = "clientRefefenceId";

export const REFERENCE_CHECKS: Check[] = defineGroup("References and descriptors", WITH_TOKEN, [
  expected("reference.echo", "returns clientReferenceId as it was sent", ["3.3", "2.5"]),
  {
    id: "reference.null-when-absent",
    name: "returns clientReferenceId as null when none was sent",
    sources: ["3.3", "D06"],
    preconditions: [PRECONDITIONS.payment],
    async run(kit) {
      expectRefund(await issue(kit, refundOf(kit)), { clientReferenceId: null });
    },
  },
  expected(
    "reference.misspelling-accepted",
    "takes the misspelling clientRefefenceId for clientReferenceId, also beside it",
    ["2.6", "D01"],
  ),
  {
    id: "reference.misspelling-never-returned",
    name: "never returns the misspelling clientRefefenceId",
    sources: ["2.6", "3.3", "D01"],
    preconditions: [PRECONDITIONS.payment],
    async run(kit) {
      const refund = refundOf(kit, { [MISSPELT]: "a" });
      for (const exchange of [await issue(kit, refund), await issue(kit, refund)]) {
        const absent = !exchange.received.text.includes(`"${MISSPELT}"`);
        assert(absent && exchange.received.status < 500, `no ${MISSPELT} in the response`, exchange);
      }
    },
  },
  expected(
    "reference.conflict",
    "responds with 400 to two spellings that differ, and points at the misspelt one",
    ["D01", "2.6"],
  ),
  expected(
    "reference.null-refused",
    "responds with 400 to a clientReferenceId that is null, or no text of 1 to 255 characters",
    ["D01"],
  ),
  expected("descriptor.accepted", "takes a softDescriptor of up to 80 letters, digits and blanks", [
    "2.7",
    "12.3",
    "D14",
  ]),
  expected(
    "descriptor.refused",
    "responds with 400 to a softDescriptor that is longer, or has other characters",
    ["12.3", "2.7", "D14"],
  ),
  {
    id: "refund.own-id",
    name: "gives each refund a paymentId of its own",
    sources: ["3.1"],
    preconditions: [PRECONDITIONS.payment],
    async run(kit) {
      const refund = refundOf(kit);
      const first = expectRefund(await issue(kit, refund));
      const exchange = await issue(kit, { ...refund, requestKey: kit.newKey() });
      const { paymentId } = bodyOf(exchange);
      const ids = new Set([refund.paymentId, first.paymentId, paymentId]);
      assert(ids.size === 3, "a paymentId that neither the payment nor another refund has", exchange);
    },
  },
]);
