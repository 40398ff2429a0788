import { INVALID_BODY, OPERATIONS } from "../calls.ts";
import { type Check, defineGroup } from "../check.ts";
import { expectHeader, expectProblem } from "../expect.ts";
import type { Kit } from "../kit.ts";

const METHODS = ["GET", "PUT", "PATCH", "DELETE"];

/** Paths and methods; a path that does not exist needs no token (D08a). */
export const PATH_CHECKS: Check[] = defineGroup(
  "Paths and methods",
  [],
  [
    {
      id: "path.unknown",
      name: "answers 404 to a path that does not exist",
      sources: ["13.1", "D08", "D15"],
      run: (kit) => expectUnknown(kit, ["/v1/refund", "/v1/webhook", "/v2/refunds", "/refunds"]),
    },
    {
      id: "path.case",
      name: "answers 404 to a path in another case",
      sources: ["7.1", "8.1", "D15"],
      run: (kit) => expectUnknown(kit, ["/V1/Refunds", "/v1/Webhook/Subscribe"]),
    },
    {
      id: "path.trailing-slash",
      name: "answers 404 to a path with a slash too many",
      sources: ["7.1", "8.1", "D15"],
      run: (kit) => expectUnknown(kit, ["/v1/refunds/", "/v1/webhook/subscribe/", "/v1//refunds"]),
    },
    {
      id: "method.not-allowed",
      name: "answers 405 with Allow: POST to every other method",
      sources: ["7.1", "8.1", "D08"],
      async run(kit) {
        for (const operation of OPERATIONS) {
          for (const method of METHODS) {
            const exchange = await kit.send({ operation, method });
            expectProblem(exchange, "METHOD_NOT_ALLOWED");
            expectHeader(exchange, "Allow", /^POST$/, "POST");
          }
        }
      },
    },
  ],
);

async function expectUnknown(kit: Kit, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    expectProblem(
      await kit.send({ path, body: INVALID_BODY, token: null }),
      "NOT_FOUND",
      `${path} is no path`,
    );
  }
}
