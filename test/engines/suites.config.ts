import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import own, { DATABASES, PAGES, testsIn, toProject } from "../../vitest.config.ts";

/** Files that stay away from the cluster, and why. */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  "about a database that is not distributed": ["admin/distribute", "storage/distributed"],
  "about the embedded store": ["storage/database/{cluster,prepared-embedded}"],
  "about connections to one PostgreSQL": [
    "storage/database/{database,limits,pool,session,start-errors}",
    "storage/webhooks/commits",
    "server/unavailable",
  ],
  "count pages, or read plans, of tables on one machine": [
    "storage/database/vacuum",
    "storage/payments/growth",
  ],
  "about HTTP, the log and the process, whatever the storage": [
    "server/http/**/*",
    "server/{backlog,guard,log,npm,process,readable-log,start-failures,stuck-lookup}",
  ],
};

/** The tests of the store and of the server on distributed tables: `npm run engines`. */
// biome-ignore lint/style/noDefaultExport: the form that Vitest reads
export default defineConfig({
  test: {
    ...own.test,
    root: fileURLToPath(new URL("../../", import.meta.url)),
    projects: [
      toProject(
        "distributed",
        testsIn("storage", "webhooks", "lifecycle", "server", "production", "sandbox", "admin"),
        [DATABASES, PAGES],
        Object.values(LEFT_OUT).flatMap((names) => names.map((name) => `test/${name}.test.ts`)),
      ),
    ],
  },
});
