import { INVALID_BODY } from "../calls.ts";
import { type Check, CheckFailure, defineGroup, type Exchange, NotRun } from "../check.ts";
import { assert, bodyOf, isJson, PROBLEM_STATUSES } from "../expect.ts";
import type { Kit } from "../kit.ts";
import { secondsIn } from "../limits.ts";
import { NEEDS } from "../needs.ts";

/** How many different faults a report of one check names. */
const MAX_NAMED = 5;

/** Looks back at every answer of the run, whatever it was asked for. */
export const ANSWER_CHECKS: Check[] = defineGroup(
  "All answers",
  [],
  [
    {
      id: "answer.status",
      name: "answers with documented statuses only",
      sources: ["D08", "D05", "11.4"],
      run: (kit) => refuseFaults(kit, /^status /),
    },
    {
      id: "answer.media-type",
      name: "answers in documented media types only",
      sources: ["1.5", "D07"],
      run: (kit) => refuseFaults(kit, /^media type |^has a body/),
    },
    {
      id: "answer.headers",
      name: "sends the documented headers",
      sources: ["D08", "11.4"],
      run: (kit) => refuseFaults(kit, /^header /),
    },
    {
      id: "answer.body",
      name: "answers with bodies that the document's schemas allow",
      sources: ["7.4", "8.4", "D07"],
      run: (kit) => refuseFaults(kit, /^body: /),
    },
    {
      id: "answer.no-failure",
      name: "never fails: no status of 500 or above",
      sources: ["D08", "11.4"],
      run: ({ exchanges }) =>
        refuseAny(exchanges, "a status below 500", ({ received }) => received.status >= 500),
    },
    {
      id: "answer.problem-status",
      name: "repeats the status in the body of a problem, and gives each code its status",
      sources: ["D07", "D08"],
      run: ({ exchanges }) =>
        refuseAny(exchanges, "a problem whose status and code fit the answer's status", ({ received }) => {
          if (received.status < 400 || !isJson(received.body)) return false;
          const { status, errorDetails } = received.body;
          const code = isJson(errorDetails) ? String(errorDetails.errorCode) : "";
          const known = Object.entries(PROBLEM_STATUSES).find(([name]) => name === code);
          return status !== received.status || known?.[1] !== received.status;
        }),
    },
    {
      id: "answer.problem-type",
      name: "has one type and one title for each code of a problem",
      sources: ["D07"],
      run({ exchanges }) {
        const kinds = new Map<string, string>();
        refuseAny(exchanges, "the type and title that earlier problems of this code had", (exchange) => {
          const { errorDetails, type, title } = bodyOf(exchange);
          if (exchange.received.status < 400 || !isJson(errorDetails)) return false;
          const code = String(errorDetails.errorCode);
          const kind = JSON.stringify([type, title]);
          const earlier = kinds.get(code) ?? kind;
          kinds.set(code, earlier);
          return kind !== earlier;
        });
      },
    },
    {
      id: "answer.secret",
      name: "never returns a secretKey or an access token",
      sources: ["D29", "4.2"],
      run: ({ exchanges }) =>
        refuseAny(exchanges, "an answer without secrets", ({ received }) => /‹[\w ]+›/.test(received.text)),
    },
    {
      id: "answer.retry-after",
      name: "says with every 429 how long to wait",
      sources: ["D27", "D08", "12.6"],
      needs: [NEEDS.token],
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
  ],
);

type Fault = { readonly exchange: Exchange; readonly text: string };

/** Everything that the document does not allow about any answer of an operation. */
function faultsIn(kit: Kit): Promise<Fault[]> {
  return kit.share("faults", async () =>
    kit.exchanges.flatMap((exchange) => {
      const { sent, received } = exchange;
      const faults = sent.operation ? kit.contract.faultsOf(sent.operation, received) : [];
      return faults.map((text) => ({ exchange, text }));
    }),
  );
}

async function refuseFaults(kit: Kit, kind: RegExp): Promise<void> {
  const found = (await faultsIn(kit)).filter(({ text }) => kind.test(text));
  const [first] = found;
  if (!first) return;
  const texts = [...new Set(found.map(({ exchange, text }) => `${exchange.received.status}: ${text}`))];
  const more = texts.length > MAX_NAMED ? `, and ${texts.length - MAX_NAMED} more` : "";
  const list = texts.slice(0, MAX_NAMED).join("; ");
  throw new CheckFailure(`answers as documented; ${found.length} are not: ${list}${more}`, first.exchange);
}

function refuseAny(
  exchanges: readonly Exchange[],
  expected: string,
  isWrong: (exchange: Exchange) => boolean,
): void {
  const wrong = exchanges.filter(isWrong);
  const count = wrong.length > 1 ? ` (${wrong.length} answers are not like that)` : "";
  assert(wrong.length === 0, expected + count, wrong[0]);
}

/** How many calls of a burst are on their way together. */
const AT_ONCE = 50;

/** Calls that do nothing, until one is limited. */
async function burst(kit: Kit): Promise<void> {
  const call = () => kit.send({ operation: "issueRefund", body: INVALID_BODY, takeLimit: true });
  for (let sent = 0; sent < kit.options.burst; sent += AT_ONCE) {
    const exchanges = await Promise.all(Array.from({ length: AT_ONCE }, call));
    if (exchanges.some(({ received }) => received.status === 429)) return;
  }
}
