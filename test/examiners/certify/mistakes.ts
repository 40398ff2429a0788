/** What is wrong with a merchant's system. */
export type Mistake = `receiver: ${ReceiverMistake}` | `caller: ${CallerMistake}`;

type ReceiverMistake =
  | "processes each repeat"
  | "verifies the parsed JSON"
  | "ignores timestamps"
  | "takes an unknown status for a success"
  | "responds 500 to unknown events"
  | "allows no unknown members"
  | "takes the last event for the truth"
  | "ignores that a refund fails later"
  | "takes a waiting refund for a success"
  | "accepts any list of signatures"
  | "verifies with an empty secret, too"
  | "verifies only what is signed"
  | "reads the first signature only"
  | "handles before it verifies"
  | "responds before it stores"
  | "handles one event at a time, slowly"
  | "refuses events of yesterday"
  | "redirects";

type CallerMistake =
  | "makes a new requestKey for each attempt"
  | "makes a new requestKey for each run"
  | "keeps amounts in 32 bits"
  | "truncates to cents"
  | "rounds to cents"
  | "does not repeat after a 503"
  | "repeats at once"
  | "ignores Retry-After"
  | "takes a 409 for a failure"
  | "takes any refund of a 409 for its own"
  | "takes a lost response for a failure"
  | "takes a waiting refund for a success"
  | "takes each 201 for a success"
  | "ignores that a refund fails later"
  | "follows redirects"
  | "repeats a 404"
  | "reads each response as JSON"
  | "sends no reference";
