import { CompiledQuery } from "kysely";
import pg from "pg";
import { createPreparedRunner, type RunStatement } from "../database/pool.ts";
import type { Store } from "../database/tables.ts";
import { LOCAL_SHARDS, readShards, type Shard } from "./functions.ts";
import { nameTables } from "./shard-statements.ts";

/** A query over the rows of all merchants, with the tables' own names. */
export type Question = Pick<CompiledQuery, "sql" | "parameters">;

/** How often a question is repeated at once because shards have come or gone. */
const MAX_CHANGES = 3;
/** After a shard has left, its tables go, too. */
const NO_SUCH_TABLE = "42P01";

/**
 * Puts questions to a machine, each to all of its shards by one statement with the names of their tables. It is prepared, because
 * planning it takes longer than running it. A statement knows for which shards it is, and finds nothing if the machine has others by
 * now; then it is written anew.
 *
 * @param openStore opens a store of the machine that runs statements in this way
 */
export function createQuestions(openStore: (run: RunStatement) => Store) {
  let run = createPreparedRunner();
  let changes = 0;
  let shards: readonly Shard[] | undefined;
  const store = openStore((...statement) => run(...statement));

  async function findShards(): Promise<readonly Shard[]> {
    shards = await readShards(store, { here: true });
    changes += 1;
    run = createPreparedRunner(`q${changes}_`); // there is a limit to the statements of a runner
    return shards;
  }

  return async <Row>(question: Question): Promise<Row[]> => {
    for (let attempt = 0; attempt < MAX_CHANGES; attempt += 1) {
      const asked = shards ?? (await findShards());
      if (asked.length > 0) {
        const found = await askShards<Row>(store, asked, question);
        if (found) return found;
      }
      if (shards === asked) shards = undefined;
      if (asked.length === 0) return [];
    }
    throw new ChangingShardsError();
  };
}

/** @returns undefined when the machine has other shards by now */
async function askShards<Row>(
  store: Store,
  shards: readonly Shard[],
  { sql: text, parameters }: Question,
): Promise<Row[] | undefined> {
  const queries = shards.map(({ tables }) => `(${nameTables(text, tables)})`).join(" union all ");
  const ids = shards.map(({ shard }) => shard);
  const statement = `select case when array(${LOCAL_SHARDS}) = $${parameters.length + 1}::bigint[] then (
      select coalesce(json_agg(row), '[]') from (${queries}) as row) end as found`;
  try {
    const query = CompiledQuery.raw(statement, [...parameters, ids]) as CompiledQuery<{
      found: Row[] | null;
    }>;
    const { rows } = await store.executeQuery(query);
    return rows[0]?.found ?? undefined;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === NO_SUCH_TABLE) return undefined;
    throw error;
  }
}

/** Shards come and go so fast that none could be asked; a conflict, so it counts as unavailable. */
class ChangingShardsError extends Error {
  override readonly name = "ChangingShardsError";
  readonly code = "40001";

  constructor() {
    super("The shards of a machine change all the time.");
  }
}
