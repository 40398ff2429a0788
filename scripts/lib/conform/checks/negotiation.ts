import { INVALID_BODY, OPERATIONS } from "../calls.ts";
import { type Check, defineGroup } from "../check.ts";
import { assert, expectProblem } from "../expect.ts";
import type { CallSpec, Kit } from "../kit.ts";
import { NEEDS } from "../needs.ts";

const PROBLEM = "application/problem+json";
const JSON_TYPE = "application/json";

/** Every call has a body that is refused, so that nothing comes of one that passes. */
export const NEGOTIATION_CHECKS: Check[] = defineGroup(
  "Media types",
  [NEEDS.token],
  [
    {
      id: "accept.absent-or-wildcard",
      name: "serves calls without Accept, and with a wildcard",
      sources: ["8.2", "D04"],
      run: (kit) =>
        sendEach(kit, [null, "*/*", "application/*"].map(accept), (exchange) =>
          expectProblem(exchange, "INVALID_REQUEST", "the call is served, and its body is not good"),
        ),
    },
    {
      id: "accept.no-json",
      name: "answers 406 when Accept admits no JSON",
      sources: ["7.2", "8.2", "D04"],
      run: (kit) =>
        sendEach(kit, ["text/xml", "application/json;q=0"].map(accept), (exchange) =>
          expectProblem(exchange, "NOT_ACCEPTABLE"),
        ),
    },
    {
      id: "accept.problem-type",
      name: "sends a problem in the media type that Accept asks for",
      sources: ["D07", "7.2"],
      async run(kit) {
        const wanted = [
          [null, PROBLEM],
          ["*/*", PROBLEM],
          [`${JSON_TYPE}, ${PROBLEM}`, PROBLEM],
          [JSON_TYPE, JSON_TYPE],
          [`text/html, ${JSON_TYPE};q=0.1`, JSON_TYPE],
        ] as const;
        for (const [accepted, type] of wanted) {
          await sendEach(kit, [accept(accepted)], (exchange) => {
            const sent = exchange.received.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
            assert(sent === type, `a problem as ${type} for Accept: ${accepted ?? "(none)"}`, exchange);
          });
        }
      },
    },
    {
      id: "content-type.json",
      name: "reads application/json in any case and with charset=utf-8",
      sources: ["7.2", "D15"],
      run: (kit) =>
        sendEach(
          kit,
          ["APPLICATION/JSON", "application/json; charset=utf-8", 'application/json;charset="UTF-8"'].map(
            type,
          ),
          (exchange) => expectProblem(exchange, "INVALID_REQUEST", "the type is good and the body is not"),
        ),
    },
    {
      id: "content-type.other",
      name: "answers 415 to a body that is not declared as JSON in UTF-8",
      sources: ["7.2", "1.5", "D15"],
      run: (kit) =>
        sendEach(
          kit,
          [
            "text/plain",
            "application/x-www-form-urlencoded",
            "application/problem+json",
            "application/json; charset=utf-16",
            null,
          ].map(type),
          (exchange) => expectProblem(exchange, "UNSUPPORTED_MEDIA_TYPE"),
        ),
    },
    {
      id: "content-encoding.any",
      name: "answers 415 to every Content-Encoding",
      sources: ["D15"],
      run: (kit) =>
        sendEach(
          kit,
          ["gzip", "identity"].map((encoding) => ({ headers: { "Content-Encoding": encoding } })),
          (exchange) => expectProblem(exchange, "UNSUPPORTED_MEDIA_TYPE"),
        ),
    },
  ],
);

const accept = (value: string | null): CallSpec => ({ headers: { Accept: value } });
const type = (value: string | null): CallSpec => ({ headers: { "Content-Type": value } });

async function sendEach(
  kit: Kit,
  specs: readonly CallSpec[],
  expectAnswer: (exchange: Awaited<ReturnType<Kit["send"]>>) => void,
): Promise<void> {
  for (const operation of OPERATIONS) {
    for (const spec of specs) expectAnswer(await kit.send({ operation, body: INVALID_BODY, ...spec }));
  }
}
