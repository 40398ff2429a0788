import type { PGlite, QueryOptions, Results, Transaction } from "@electric-sql/pglite";

/**
 * The application has far fewer statements than this, but those that are built for a list differ with its length; beyond the
 * limit, statements are not prepared.
 */
const MAX_PREPARED = 200;

/** The error after a migration has changed a table of which a statement reads every column. */
const STALE_PLAN = "cached plan must not change result type";

type Runner = Pick<PGlite | Transaction, "query" | "exec">;

/**
 * The embedded store with its statements prepared: parsing and planning them each time takes longer than executing them. The
 * values are written as literals, because `execute` takes no parameters.
 * @param onError called with the error of each statement that fails
 */
export function toPreparedPGlite(pglite: PGlite, onError: (error: unknown) => void = () => {}): PGlite {
  const run = createPreparedRunner();
  const queryOf = (runner: Runner) => (text: string, values?: unknown[], options?: QueryOptions) =>
    run(runner, text, values, options).catch((error: unknown) => {
      onError(error);
      throw error;
    });
  const transaction = <Result>(work: (transaction: Transaction) => Promise<Result>) =>
    pglite.transaction((begun) => work(override(begun, { query: queryOf(begun) })));
  return override(pglite, { query: queryOf(pglite), transaction });
}

/** Wraps an object so that some members are replaced. */
function override<Target extends object>(target: Target, members: object): Target {
  return new Proxy(target, {
    get(_, name) {
      if (name in members) return Reflect.get(members, name);
      const member = Reflect.get(target, name, target); // the object has private members
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

function createPreparedRunner() {
  /** The names of the prepared statements by their texts; null for one that was run once, or is being prepared. */
  const names = new Map<string, string | null>();
  const beingPrepared = new Set<string>();
  let made = 0;

  /** Prepares a statement when it is run for the second time. Returns undefined while it is not prepared. */
  async function nameOf(runner: Runner, text: string): Promise<string | undefined> {
    const known = names.get(text);
    if (known) return known;
    if (known === undefined) {
      if (names.size < MAX_PREPARED) names.set(text, null);
      return undefined;
    }
    // A concurrent call may be preparing it, and wait for the transaction of this call to end.
    if (beingPrepared.has(text)) return undefined;
    made += 1;
    const name = `s${made}`;
    beingPrepared.add(text);
    try {
      await runner.exec(`prepare ${name} as ${text}`);
      names.set(text, name);
    } finally {
      beingPrepared.delete(text);
    }
    return name;
  }

  return async (
    runner: Runner,
    text: string,
    values: readonly unknown[] = [],
    options?: QueryOptions,
  ): Promise<Results<object>> => {
    const literals = values.map(toLiteral);
    const isWritable = literals.length > 0 && !literals.includes(undefined);
    const name = isWritable ? await nameOf(runner, text) : undefined;
    if (name === undefined) return runner.query(text, [...values], options);
    try {
      return await runner.query(`execute ${name} (${literals})`, [], options);
    } catch (error) {
      // The next call prepares the statement again.
      if (error instanceof Error && error.message === STALE_PLAN) names.delete(text);
      throw error;
    }
  };
}

/** A value as a literal of SQL; undefined for one of a type that this server does not store. */
function toLiteral(value: unknown): string | undefined {
  if (value === null) return "null";
  const text = Array.isArray(value) ? toArrayText(value) : toText(value);
  return text === undefined ? undefined : `'${text.replaceAll("'", "''")}'`;
}

function toText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString("hex")}`;
  return undefined;
}

function toArrayText(values: readonly unknown[]): string | undefined {
  const members = values.map((value) => (value === null ? "NULL" : quoteMember(toText(value))));
  return members.includes(undefined) ? undefined : `{${members}}`;
}

function quoteMember(text: string | undefined): string | undefined {
  return text === undefined ? undefined : `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
}
