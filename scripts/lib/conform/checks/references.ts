import { issue, refundOf } from "../calls.ts";
import { type Check, defineGroup } from "../check.ts";
import { assert, bodyOf, expectRefund, expectViolations } from "../expect.ts";
import { NEEDS } from "../needs.ts";

/** Not ASCII, with blanks around: whatever a service does to it shows. */
const REFERENCE = " Bestellung 1042 ✓ 😀 ";
const MISSPELT = "clientRefefenceId";

export const REFERENCE_CHECKS: Check[] = defineGroup(
  "References and descriptors",
  [NEEDS.token],
  [
    {
      id: "reference.echo",
      name: "returns clientReferenceId as it was sent",
      sources: ["3.3", "2.5"],
      needs: [NEEDS.payment],
      async run(kit) {
        for (const clientReferenceId of [REFERENCE, "😀".repeat(255)]) {
          expectRefund(await issue(kit, refundOf(kit, { clientReferenceId })), { clientReferenceId });
        }
      },
    },
    {
      id: "reference.null-when-absent",
      name: "returns clientReferenceId as null when none was sent",
      sources: ["3.3", "D06"],
      needs: [NEEDS.payment],
      async run(kit) {
        expectRefund(await issue(kit, refundOf(kit)), { clientReferenceId: null });
      },
    },
    {
      id: "reference.misspelling-accepted",
      name: "takes the misspelling clientRefefenceId for clientReferenceId, also beside it",
      sources: ["2.6", "D01"],
      needs: [NEEDS.payment],
      async run(kit) {
        for (const fields of [{ [MISSPELT]: "a" }, { [MISSPELT]: "a", clientReferenceId: "a" }]) {
          expectRefund(await issue(kit, refundOf(kit, fields)), { clientReferenceId: "a" });
        }
      },
    },
    {
      id: "reference.misspelling-never-returned",
      name: "never returns the misspelling clientRefefenceId",
      sources: ["2.6", "3.3", "D01"],
      needs: [NEEDS.payment],
      async run(kit) {
        const refund = refundOf(kit, { [MISSPELT]: "a" });
        for (const exchange of [await issue(kit, refund), await issue(kit, refund)]) {
          const absent = !exchange.received.text.includes(`"${MISSPELT}"`);
          assert(absent && exchange.received.status < 500, `no ${MISSPELT} in the answer`, exchange);
        }
      },
    },
    {
      id: "reference.conflict",
      name: "answers 400 to two spellings that differ, and points at the misspelt one",
      sources: ["D01", "2.6"],
      async run(kit) {
        const exchange = await issue(kit, refundOf(kit, { [MISSPELT]: "a", clientReferenceId: "A" }));
        expectViolations(exchange, [`/${MISSPELT}`], "the two differ");
      },
    },
    {
      id: "reference.null-refused",
      name: "answers 400 to a clientReferenceId that is null",
      sources: ["D01"],
      async run(kit) {
        const exchange = await issue(kit, refundOf(kit, { clientReferenceId: null }));
        expectViolations(exchange, ["/clientReferenceId"], "null is no text");
      },
    },
    {
      id: "descriptor.accepted",
      name: "takes a softDescriptor of up to 80 letters, digits and blanks",
      sources: ["2.7", "12.3", "D14"],
      needs: [NEEDS.payment],
      async run(kit) {
        for (const softDescriptor of ["", "ACME refund 1042", "x".repeat(80)]) {
          expectRefund(await issue(kit, refundOf(kit, { softDescriptor })));
        }
      },
    },
    {
      id: "descriptor.refused",
      name: "answers 400 to a softDescriptor that is longer, or has other characters",
      sources: ["12.3", "2.7", "D14"],
      async run(kit) {
        for (const softDescriptor of ["x".repeat(81), "ACME, Inc.", "ACME\n", "Caf\u00e9"]) {
          expectViolations(await issue(kit, refundOf(kit, { softDescriptor })), ["/softDescriptor"]);
        }
      },
    },
    {
      id: "refund.own-id",
      name: "gives each refund a paymentId of its own",
      sources: ["3.1"],
      needs: [NEEDS.payment],
      async run(kit) {
        const refund = refundOf(kit);
        const first = expectRefund(await issue(kit, refund));
        const exchange = await issue(kit, { ...refund, requestKey: kit.newKey() });
        const { paymentId } = bodyOf(exchange);
        const ids = new Set([refund.paymentId, first.paymentId, paymentId]);
        assert(ids.size === 3, "a paymentId that neither the payment nor another refund has", exchange);
      },
    },
  ],
);
