/** The checks of all responses that the run has got: are they as the document describes? */
import { isNode } from "../../../openapi/document/document-node.ts";
import { CheckFailure, type Exchange, NotRun } from "../../reporting/exchange.ts";
import { assert, bodyOf, PROBLEM_STATUSES } from "../assertions.ts";
import type { Kit } from "../kit.ts";
import { type Check, defineGroup, PRECONDITIONS } from "../preconditions.ts";
import { secondsIn } from "../transport.ts";
import { INVALID_BODY } from "../valid-requests.ts";

/** How many different errors the report of one check lists. */
const MAX_NAMED = 5;

/** Validates every response of the run, whichever check sent the request. */
export const RESPONSE_CHECKS: Check[] = defineGroup("All responses", {}, [
  {
    id: "response.status",
    name: "responds with documented statuses only",
    sources: ["D08", "D05", "11.4"],
    run: (kit) => refuseViolations(kit, /^status /),
  },
  {
    id: "response.media-type",
    name: "responds in documented media types only",
    sources: ["1.5", "D07"],
    run: (kit) => refuseViolations(kit, /^media type |^has a body/),
  },
  {
    id: "response.headers",
    name: "sends the documented headers",
    sources: ["D08", "11.4"],
    run: (kit) => refuseViolations(kit, /^header /),
  },
  {
    id: "response.body",
    name: "responds with bodies that the document's schemas allow",
    sources: ["7.4", "8.4", "D07"],
    run: (kit) => refuseViolations(kit, /^body: /),
  },
  {
    id: "response.no-failure",
    name: "never fails: no status of 500 or above",
    sources: ["D08", "11.4"],
    run: ({ exchanges }) =>
      refuseAny(exchanges, "a status below 500", ({ received }) => received.status >= 500),
  },
  {
    id: "response.problem-status",
    name: "repeats the status in the body of a problem, and gives each code its status",
    sources: ["D07", "D08"],
    run: ({ exchanges }) =>
      refuseAny(exchanges, "a problem whose status and code fit the response's status", ({ received }) => {
        if (received.status < 400 || !isNode(received.body)) return false;
        const { status, errorDetails } = received.body;
        const code = isNode(errorDetails) ? String(errorDetails.errorCode) : "";
        const known = Object.entries(PROBLEM_STATUSES).find(([name]) => name === code);
        return status !== received.status || known?.[1] !== received.status;
      }),
  },
  {
    id: "response.problem-type",
    name: "has one type and one title for each code of a problem",
    sources: ["D07"],
    run({ exchanges }) {
      const kinds = new Map<string, string>();
      refuseAny(exchanges, "the type and title that earlier problems of this code had", (exchange) => {
        const { errorDetails, type, title } = bodyOf(exchange);
        if (exchange.received.status < 400 || !isNode(errorDetails)) return false;
        const code = String(errorDetails.errorCode);
        const kind = JSON.stringify([type, title]);
        const earlier = kinds.get(code) ?? kind;
        kinds.set(code, earlier);
        return kind !== earlier;
      });
    },
  },
  {
    id: "response.secret",
    name: "never returns a secretKey or an access token",
    sources: ["D29", "4.2"],
    run: ({ exchanges }) =>
      refuseAny(exchanges, "a response without secrets", ({ received }) => /‹[\w ]+›/.test(received.text)),
  },
  {
    id: "response.retry-after",
    name: "says with every 429 how long to wait",
    sources: ["D27", "D08", "12.6"],
    preconditions: [PRECONDITIONS.token],
    async run(kit) {
      const limited = () => kit.exchanges.filter(({ received }) => received.status === 429);
      if (limited().length === 0) await burst(kit);
      if (limited().length === 0)
        throw new NotRun("no call was limited; --burst N makes up to N calls, many at once");
      refuseAny(limited(), "429 with Retry-After: seconds", ({ received }) => {
        return secondsIn(received.headers.get("retry-after")) === undefined;
      });
    },
  },
]);

type Mismatch = { readonly exchange: Exchange; readonly text: string };

/** Lists every violation of the document in the responses of an operation. */
function mismatchesIn(kit: Kit): Promise<Mismatch[]> {
  return kit.share("mismatches", async () =>
    kit.exchanges.flatMap((exchange) => {
      const { sent, received } = exchange;
      const mismatches = sent.operation ? kit.contract.violationsOf(sent.operation, received) : [];
      return mismatches.map((text) => ({ exchange, text }));
    }),
  );
}

async function refuseViolations(kit: Kit, kind: RegExp): Promise<void> {
  const found = (await mismatchesIn(kit)).filter(({ text }) => kind.test(text));
  const [first] = found;
  if (!first) return;
  const texts = [...new Set(found.map(({ exchange, text }) => `${exchange.received.status}: ${text}`))];
  const more = texts.length > MAX_NAMED ? `, and ${texts.length - MAX_NAMED} more` : "";
  const list = texts.slice(0, MAX_NAMED).join("; ");
  throw new CheckFailure(`responses as documented; ${found.length} are not: ${list}${more}`, first.exchange);
}

function refuseAny(
  exchanges: readonly Exchange[],
  expected: string,
  isWrong: (exchange: Exchange) => boolean,
): void {
  const wrong = exchanges.filter(isWrong);
  const count = wrong.length > 1 ? ` (${wrong.length} responses differ)` : "";
  assert(wrong.length === 0, expected + count, wrong[0]);
}

/** How many calls of a burst are sent concurrently. */
const AT_ONCE = 50;

/** Sends calls without effect until one exceeds the rate limit. */
async function burst(kit: Kit): Promise<void> {
  const call = () => kit.send({ operation: "issueRefund", body: INVALID_BODY, takeLimit: true });
  for (let sent = 0; sent < kit.options.burst; sent += AT_ONCE) {
    const exchanges = await Promise.all(Array.from({ length: AT_ONCE }, call));
    if (exchanges.some(({ received }) => received.status === 429)) return;
  }
}
