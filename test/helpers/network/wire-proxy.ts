import { connect, type Socket } from "node:net";
import { listenForSockets } from "./local-server.ts";

/**
 * Where an exchange is cut: after so many of its messages have been passed on. One exchange is what the caller sends up to
 * Sync or a simple query, and PostgreSQL's response up to ReadyForQuery.
 */
export type Cut = {
  /** Which of the marked exchanges, from 0. */
  readonly exchange: number;
  readonly side: "statement" | "response";
  readonly passed: number;
};

/** The messages of one exchange, by their letters, such as `PBDES` and `1TnDCZ`. */
export type Exchange = { statement: string; response: string };

export type WireProxy = AsyncDisposable & {
  readonly port: number;
  /** Watches exchanges that hold this text, and cuts one of them at a given point. */
  watch(mark: string, cut?: Cut): void;
  /** Cuts every connection there is. */
  dropAll(): void;
  /** The exchanges since `watch`. */
  readonly exchanges: readonly Exchange[];
  /** Whether the cut has been made. */
  readonly cutMade: () => boolean;
};

/** A proxy between a server and PostgreSQL that reads the messages. */
export async function startWireProxy(databasePort: number): Promise<WireProxy> {
  const state = { mark: "", cut: undefined as Cut | undefined, made: false, exchanges: [] as Exchange[] };
  const server = await listenForSockets((caller) => {
    const database = connect(databasePort, "127.0.0.1");
    server.add(database);
    relay(caller, database, state);
  });
  return {
    ...server,
    watch(mark, cut) {
      Object.assign(state, { mark, cut, made: false });
      state.exchanges.length = 0;
    },
    dropAll: server.cut,
    exchanges: state.exchanges,
    cutMade: () => state.made,
  };
}

type State = { mark: string; cut: Cut | undefined; made: boolean; exchanges: Exchange[] };

function relay(caller: Socket, database: Socket, state: State): void {
  let batch: Frame[] = [];
  /** The marked exchange that this connection is in, by number. */
  let current: number | undefined;

  const cutHere = () => {
    state.made = true;
    // Data that was passed on still arrives, but nothing after it.
    caller.destroySoon();
    database.destroySoon();
  };
  const isCut = (side: Cut["side"], passed: number) =>
    !state.made &&
    current !== undefined &&
    state.cut?.exchange === current &&
    state.cut.side === side &&
    state.cut.passed === passed;

  const readStatements = createFrames({ startup: true }, (frame) => {
    batch.push(frame);
    if (!["S", "Q", ""].includes(frame.letter)) return;
    const whole = batch;
    batch = [];
    if (state.mark !== "" && whole.some(({ bytes }) => bytes.includes(state.mark)))
      current = state.exchanges.push({ statement: "", response: "" }) - 1;
    const exchange = current === undefined ? undefined : state.exchanges[current];
    for (const { letter, bytes } of whole) {
      if (isCut("statement", exchange?.statement.length ?? 0)) return cutHere();
      if (exchange) exchange.statement += letter;
      database.write(bytes);
    }
  });
  const readResponses = createFrames({ startup: false }, ({ letter, bytes }) => {
    const exchange = current === undefined ? undefined : state.exchanges[current];
    if (isCut("response", exchange?.response.length ?? 0)) return cutHere();
    if (exchange) exchange.response += letter;
    caller.write(bytes);
    if (isCut("response", exchange?.response.length ?? 0)) cutHere();
    if (letter === "Z") current = undefined;
  });

  caller.on("data", readStatements).on("close", () => database.destroySoon());
  database.on("data", readResponses).on("close", () => caller.destroySoon());
}

/** A message of PostgreSQL's protocol; its letter is empty where the protocol has none, at the start of a connection. */
export type Frame = { readonly letter: string; readonly bytes: Buffer };

/**
 * Splits a stream into messages: a letter, a length that includes itself, and the rest. The caller's first message has no
 * letter. Connections here use no encryption, so PostgreSQL never responds in another form.
 */
export function createFrames(
  { startup }: { readonly startup: boolean },
  onFrame: (frame: Frame) => void,
): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let unnamed = startup;

  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const headLength = unnamed ? 0 : 1;
      if (rest.length < headLength + 4) return;
      const length = headLength + rest.readInt32BE(headLength);
      if (rest.length < length) return;
      const bytes = rest.subarray(0, length);
      rest = rest.subarray(length);
      const letter = unnamed ? "" : String.fromCharCode(bytes[0] ?? 0);
      unnamed = false;
      onFrame({ letter, bytes });
    }
  };
}
