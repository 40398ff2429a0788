import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { expect, inject, test } from "vitest";
import { createCluster } from "../../../../server/storage/database/embedded.ts";

/** Statistics contain the release that wrote them; everything else must be as this release creates it. */
const CATALOGS = `
  select relname as name from pg_class
  where relnamespace = 'pg_catalog'::regnamespace and relkind = 'r' and relname <> 'pg_statistic'`;

/** Every row of the system's own tables, and the versions of its format. */
async function readCluster(folder: string): Promise<Record<string, string[]>> {
  const pglite = await PGlite.create(folder);
  const read = async (query: string) =>
    (await pglite.query<{ row: string }>(query)).rows.map(({ row }) => row);
  const catalogs = await pglite.query<{ name: string }>(CATALOGS);
  const tables: Record<string, string[]> = {};
  for (const { name } of catalogs.rows) {
    tables[name] = await read(`select t::text as row from pg_catalog.${name} t order by 1`);
  }
  tables.versions = await read(
    "select concat_ws(' ', pg_control_version, catalog_version_no) as row from pg_control_system()",
  );
  tables.format = await read("select t::text as row from pg_control_init() t");
  await pglite.close();
  return tables;
}

test("the prepared cluster is, row for row, what this release of the embedded PostgreSQL would make itself", async () => {
  const folder = await mkdtemp(join(inject("storesDir"), "cluster-"));
  try {
    await createCluster(join(folder, "prepared"));

    const [prepared, made] = [await readCluster(join(folder, "prepared")), await readCluster("memory://")];

    expect(Object.keys(made).length).toBeGreaterThan(60);
    expect(made.versions).toHaveLength(1);
    expect(prepared).toEqual(made);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
