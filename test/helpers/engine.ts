const ENGINES = ["embedded", "postgres", "citus"] as const;
export type Engine = (typeof ENGINES)[number];

/** ENGINE=embedded, postgres or citus: on which one the tests of the store run; without it on the first two. */
export const chosenEngine: Engine | undefined = readEngine(process.env.ENGINE);

function readEngine(name: string | undefined): Engine | undefined {
  const engine = ENGINES.find((one) => one === name);
  if (name !== undefined && !engine) throw new Error(`ENGINE must be ${ENGINES.join(", ")}, not ${name}`);
  return engine;
}

/** The same tests run on each: `describe.each(engines)`. */
export const engines: readonly Engine[] = chosenEngine ? [chosenEngine] : ["embedded", "postgres"];

export const isOnCluster = chosenEngine === "citus";

/** A database on every machine of the cluster with empty, distributed tables, which tests copy. */
export const CLUSTER_TEMPLATE = "distributed";

/** A database on every machine that knows the other machines, and has no tables. */
export const EMPTY_CLUSTER = "cluster";

/** Files that stay away from a cluster, and why. */
const NOT_ON_CLUSTER: Readonly<Record<string, readonly string[]>> = {
  "about a database that is not distributed": ["server/operators/distribute"],
  "about the embedded store": ["server/storage/database/{cluster,prepared-embedded}"],
  "about connections to one PostgreSQL": [
    "server/storage/database/{database,limits,pool,session,start-errors}",
    "server/lifecycle/{forgotten-lock,wrong-clock}",
    "server/http/unavailable",
    "server/operators/lost-database",
  ],
  "about triggers, which distributed tables can't have": ["server/storage/payments/guards"],
  "count pages, or read plans, of tables on one machine": [
    "server/storage/database/vacuum",
    "server/storage/payments/growth",
  ],
  "about HTTP, the log and the process, whatever the storage": [
    "server/process/*",
    "server/observability/spans",
    "server/http/{amount-literals,hardening,http-request,readiness,response-guard}",
  ],
};

/** The files that a run leaves out. */
export const leftOut: readonly string[] = isOnCluster
  ? Object.values(NOT_ON_CLUSTER).flatMap((names) => names.map((name) => `test/${name}.test.ts`))
  : [];
