import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import own, { DATABASES, PAGES, testsIn, toProject } from "../../../vitest.config.ts";

/** Files that stay away from the cluster, and why. */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  "about a database that is not distributed": ["server/admin/distribute", "server/storage/functions"],
  "about the embedded store": ["server/storage/database/{cluster,prepared-embedded}"],
  "about connections to one PostgreSQL": [
    "server/storage/database/{database,limits,pool,session,start-errors}",
    "server/storage/webhooks/commits",
    "server/http/unavailable",
  ],
  "count pages, or read plans, of tables on one machine": [
    "server/storage/database/vacuum",
    "server/storage/payments/growth",
  ],
  "about HTTP, the log and the process, whatever the storage": [
    "server/{log,process}/*",
    "server/webhooks/backlog",
    "server/http/{amount-literals,backpressure,bad-input,bodies,hardening,http-request,malformed-http,order,overload,probes,readiness,response-guard}",
  ],
};

/** The tests of the store and of the server on distributed tables: `npm run proof -- engines`. */
// biome-ignore lint/style/noDefaultExport: the form that Vitest reads
export default defineConfig({
  test: {
    ...own.test,
    root: fileURLToPath(new URL("../../../", import.meta.url)),
    projects: [
      toProject(
        "distributed",
        testsIn("server/!(console)"),
        [DATABASES, PAGES],
        Object.values(LEFT_OUT).flatMap((names) => names.map((name) => `test/${name}.test.ts`)),
      ),
    ],
  },
});
