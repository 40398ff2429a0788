/** Mistakes of merchants' systems, and the checks of the exam that must find each. */
type Row = readonly [mistake: string, ...failed: string[]];

/** Each mistake of a merchant's receiver, and the checks that it fails: no other one may. */
export const RECEIVERS = [
  ["receiver: refuses events that are not of refunds", "event.types"],
  ["receiver: responds 409 to a repeat", "event.repeated"],
  ["receiver: responds 500 to unknown events", "unknown.event"],
  ["receiver: responds 500 to an unknown status", "unknown.status"],
  ["receiver: allows no unknown members", "unknown.member"],
  ["receiver: refuses events of yesterday", "event.late"],
  ["receiver: accepts any signature", "signature.forged"],
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
  ["receiver: takes refund.authorized for the truth whenever it comes", "state.disorder"],
  ["receiver: takes an unknown status for a success", "state.unknown-status"],
  ["receiver: takes an unknown status for a failure", "state.unknown-status"],
  ["receiver: handles before it verifies", "state.forged"],
  ["receiver: responds before it stores", "restart.kept"],
  ["receiver: keeps ids in memory", "restart.repeated"],
  ["receiver: reads, waits and writes", "state.at-once"],
  ["receiver: responds 204 and stores nothing", "state.stored"],
  ["receiver: dies of an errorCode", "event.error-code"],
  ["receiver: dies of an unknown errorCode", "event.error-code"],
  ["receiver: compares the beginning of a signature", "signature.partial"],
  ["receiver: compares the end of a signature", "signature.partial"],
  ["receiver: compares signatures without case", "signature.partial"],
  ["receiver: ends at unknown events, and is started again", "unknown.event"],
  ["receiver: prints its secret", "output.secret"],
  ["receiver: reads header names in one spelling only", "event.headers"],
  ["receiver: dies of a refund without a reference", "event.reference"],
  ["receiver: reads letters of one byte only", "signature.bytes"],
  ["receiver: allows clocks to differ by a minute", "event.late"],
  ["receiver: books all events again when it starts", "restart.kept"],
  ["receiver: loses one of two events at a moment", "state.disorder"],
] as const satisfies readonly Row[];

/** The same of a program that issues refunds. */
export const CALLERS = [
  ["caller: makes no request", "refund.issued"],
  ["caller: makes its requestKey of the payment", "refund.key"],
  ["caller: sends no reference", "refund.reference"],
  ["caller: keeps amounts in 32 bits", "amount.cent"],
  ["caller: truncates to cents", "amount.cent"],
  ["caller: rounds to cents", "amount.third-digit"],
  ["caller: makes a new requestKey for each attempt", "lost.after"],
  ["caller: makes a new requestKey for each run", "lost.unfinished"],
  ["caller: makes a new requestKey after a timeout, in a queue", "lost.slow"],
  ["caller: does not repeat after a 503", "busy.503"],
  ["caller: reads each response as JSON", "busy.502"],
  ["caller: does not repeat after a 429", "busy.429"],
  ["caller: ignores Retry-After", "busy.retry-after"],
  ["caller: repeats at once", "busy.storm"],
  ["caller: repeats a 404", "refused.call"],
  ["caller: follows redirects", "refused.redirect"],
  ["caller: follows a 302 only", "refused.redirect"],
  ["caller: takes a 409 for a failure", "state.lost"],
  ["caller: takes a lost response for a failure", "state.unfinished"],
  ["caller: takes a refusal after a lost response for a failure", "state.refused"],
  ["caller: takes any refund of a 409 for its own", "state.foreign"],
  ["caller: takes each 201 for a success", "state.failed"],
  ["caller: takes a waiting refund for a success", "state.pending"],
  ["caller: ignores that a refund fails later", "state.fails-later"],
  ["caller: takes a late response for the truth", "state.overtaken"],
  ["caller: ignores the payment of a 409", "state.foreign"],
  ["caller: ignores the amount of a 409", "state.foreign"],
  ["caller: ignores the reference of a 409", "state.foreign"],
  ["caller: reads whether there is a key, and writes it later", "lost.at-once"],
  ["caller: waits for ever for a response", "lost.silent"],
  ["caller: prints its access token", "output.secret"],
  ["caller: does not repeat at all", "busy.503"],
  ["caller: repeats a 500 at once", "busy.storm"],
  ["caller: forgets its requestKey after a refusal", "state.refused"],
  ["caller: makes a new requestKey while a refund waits", "state.pending"],
  ["caller: dies of an errorCode", "state.failed"],
  ["caller: takes the 409 of a refund without a reference for its own", "state.foreign"],
] as const satisfies readonly Row[];

/** The same of a program that is a process of its own, which the exam can kill. */
export const PROGRAMS = [
  ["caller: stores the requestKey after the call", "lost.crash"],
] as const satisfies readonly Row[];

/** Right systems that an exam could misjudge, the checks that would, and the times that they need. */
export const RIGHT_RECEIVERS = [
  ["receiver: books later than it responds", "state.repeated,state.disorder", "--settle", "0.8"],
  ["receiver: orders events by their timestamps", "state.disorder,state.repeated"],
] as const;

export const RIGHT_CALLERS = [
  ["caller: responds 404 for the state of a refund that it does not have", "state.foreign"],
  ["caller: issues refunds from a queue", "busy.503,busy.429,busy.retry-after", "--settle", "0.6"],
  ["caller: issues refunds from a queue", "refund.issued", "--settle", "1.2", "--timeout", "0.8"],
] as const;

/** Receivers that refuse every event. */
type Refusing =
  | "receiver: redirects"
  | "receiver: uses the secret as text"
  | "receiver: takes seconds for milliseconds"
  | "receiver: verifies JSON that Python has written"
  | "receiver: has another path"
  | "receiver: takes most of the time";

/** A merchant's system whose requests never end while responses are lost. */
export const ENDLESS = "caller: repeats for ever, from a queue";

/** What is wrong with a merchant's system, or only looks wrong. */
export type Mistake =
  | (typeof RECEIVERS | typeof CALLERS | typeof PROGRAMS)[number][0]
  | (typeof RIGHT_RECEIVERS | typeof RIGHT_CALLERS)[number][0]
  | typeof ENDLESS
  | Refusing;
