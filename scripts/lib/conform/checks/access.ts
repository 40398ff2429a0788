import { randomUUID } from "node:crypto";
import { INVALID_BODY, OPERATIONS } from "../calls.ts";
import { type Check, defineGroup } from "../check.ts";
import { expectHeader, expectProblem } from "../expect.ts";
import type { CallSpec, Kit } from "../kit.ts";
import { NEEDS } from "../needs.ts";

export const ACCESS_CHECKS: Check[] = defineGroup(
  "Access",
  [],
  [
    {
      id: "access.no-token",
      name: "answers 401 with WWW-Authenticate: Bearer to a call without a token",
      sources: ["9.1", "9.2", "D08"],
      run: (kit) => expectUnauthorized(kit, { token: null }),
    },
    {
      id: "access.unknown-token",
      name: "answers 401 to a token that nobody has",
      sources: ["9.1", "D08"],
      run: (kit) => expectUnauthorized(kit, { token: `conform-${randomUUID()}` }),
    },
    {
      id: "access.other-scheme",
      name: "answers 401 to another scheme than Bearer",
      sources: ["9.1", "D18"],
      run: (kit) => expectUnauthorized(kit, { headers: { Authorization: "Basic Y29uZm9ybTpjb25mb3Jt" } }),
    },
    {
      id: "access.scheme-case",
      name: "takes the word Bearer in any case",
      sources: ["D18"],
      needs: [NEEDS.token],
      async run(kit) {
        const Authorization = `bEARER ${kit.options.token}`;
        for (const operation of OPERATIONS) {
          const exchange = await kit.send({ operation, body: INVALID_BODY, headers: { Authorization } });
          expectProblem(exchange, "INVALID_REQUEST", "the token is good and the body is not");
        }
      },
    },
    {
      id: "access.scope",
      name: "answers 403 to a token without the scope of the operation",
      sources: ["D18", "D08"],
      needs: [NEEDS.unscopedToken],
      async run(kit) {
        for (const operation of OPERATIONS) {
          const token = kit.options.unscopedToken ?? null;
          expectProblem(await kit.send({ operation, body: INVALID_BODY, token }), "FORBIDDEN");
        }
      },
    },
  ],
);

async function expectUnauthorized(kit: Kit, spec: CallSpec): Promise<void> {
  for (const operation of OPERATIONS) {
    const exchange = await kit.send({ operation, body: INVALID_BODY, ...spec });
    expectProblem(exchange, "UNAUTHORIZED");
    expectHeader(exchange, "WWW-Authenticate", /^Bearer\b/i, "Bearer");
  }
}
