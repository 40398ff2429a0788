/** The two databases on which tests of the store run. */
const ENGINES = ["embedded", "postgres"] as const;
export type Engine = (typeof ENGINES)[number];

/** The same tests run on each: `describe.each(engines)`. ENGINE=embedded or postgres chooses one. */
export const engines: readonly Engine[] = readEngines(process.env.ENGINE);

function readEngines(name: string | undefined): readonly Engine[] {
  if (name === undefined) return ENGINES;
  const engine = ENGINES.find((engine) => engine === name);
  if (!engine) throw new Error(`ENGINE must be ${ENGINES.join(" or ")}, not ${name}`);
  return [engine];
}
