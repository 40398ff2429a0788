type Row = readonly [mistake: string, ...failed: string[]];

/** Each mistake of a merchant's receiver, and the checks that it fails: no other one may. */
export const RECEIVERS = [
  ["receiver: redirects", "response.redirect"],
  ["receiver: responds 500 to unknown events", "unknown.event"],
  ["receiver: allows no unknown members", "unknown.member"],
  ["receiver: refuses events of yesterday", "event.late"],
  ["receiver: accepts any list of signatures", "signature.list"],
  ["receiver: verifies with an empty secret, too", "signature.empty-secret"],
  ["receiver: verifies only what is signed", "signature.none"],
  ["receiver: ignores timestamps", "signature.timestamp"],
  ["receiver: verifies the parsed JSON", "signature.bytes"],
  ["receiver: reads the first signature only", "signature.rotated"],
  ["receiver: handles one event at a time, slowly", "load.burst"],
  ["receiver: takes a waiting refund for a success", "state.pending"],
  ["receiver: ignores that a refund fails later", "state.failed-later"],
  ["receiver: processes each repeat", "state.repeated"],
  ["receiver: takes the last event for the truth", "state.disorder"],
  ["receiver: takes an unknown status for a success", "state.unknown-status"],
  ["receiver: handles before it verifies", "state.forged"],
  ["receiver: responds before it stores", "restart.kept"],
] as const satisfies readonly Row[];

/** The same of a program that issues refunds. */
export const CALLERS = [
  ["caller: sends no reference", "refund.reference"],
  ["caller: keeps amounts in 32 bits", "amount.cent"],
  ["caller: truncates to cents", "amount.truncation"],
  ["caller: rounds to cents", "amount.third-digit"],
  [
    "caller: makes a new requestKey for each attempt",
    "lost.after",
    "lost.before",
    "lost.cut",
    "lost.crash",
    "busy.outage",
  ],
  ["caller: makes a new requestKey for each run", "lost.crash", "busy.500"],
  ["caller: does not repeat after a 503", "busy.503"],
  ["caller: reads each response as JSON", "busy.502"],
  ["caller: ignores Retry-After", "busy.retry-after"],
  ["caller: repeats at once", "busy.storm"],
  ["caller: repeats a 404", "refused.404"],
  ["caller: follows redirects", "refused.redirect"],
  ["caller: takes a 409 for a failure", "state.lost", "state.crash"],
  ["caller: takes a lost response for a failure", "state.crash"],
  ["caller: takes any refund of a 409 for its own", "state.foreign"],
  ["caller: takes each 201 for a success", "state.failed"],
  ["caller: takes a waiting refund for a success", "state.pending"],
  ["caller: ignores that a refund fails later", "state.fails-later"],
] as const satisfies readonly Row[];

/** What is wrong with a merchant's system. */
export type Mistake = (typeof RECEIVERS | typeof CALLERS)[number][0];
