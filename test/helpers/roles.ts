/** A production database with the roles that docs/operators/roles.sql creates. */
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { runCommand } from "./admin-command.ts";
import { createTestDatabase } from "./databases.ts";
import { startProduction } from "./deployment.ts";
import { query as runQuery, runStatement } from "./postgres.ts";

export const readScript = (name: string) => readFileSync(`docs/operators/${name}`, "utf8");

/** Operators log in by roles of their own, such as jane; `admin` is the one of the tests. */
export type Role = "migrate" | "serve" | "admin" | "payouts" | "report" | "jane";

/** A production database with the roles of docs/operators/roles.sql, and what they do in it. */
export async function startWithRoles() {
  const database = await createTestDatabase("postgres", { empty: true });
  const name = new URL(database.url).pathname.slice(1);
  const production = await startProduction();
  const urlOf = (role: Role) =>
    database.url.replace("postgres@", `${name}_${role === "admin" ? "jane" : role}@`);
  /** A role belongs to the whole server, which other tests share. */
  const adapt = (text: string) =>
    text.replaceAll("refunds_", `${name}_`).replace("database refunds", `database ${name}`);
  const run = (role: Role, args: readonly string[], stdin = "") =>
    runCommand(args, {
      env: { DATABASE_URL: urlOf(role), ENCRYPTION_KEY: production.env.ENCRYPTION_KEY ?? "" },
      stdin,
    });
  await runStatement(database.url, adapt(readScript("roles.sql")));
  expect(await run("migrate", ["migrate"])).toMatchObject({ code: 0, stderr: "" });
  await runStatement(database.url, adapt(readScript("audit.sql")));
  expect(await run("migrate", ["rights", name])).toMatchObject({ code: 0, stderr: "" });
  return {
    ...{ name, production, urlOf, run, ownerUrl: database.url },
    query: (role: Role, statement: string) => runQuery<Record<string, unknown>>(urlOf(role), statement),
    start: (env = {}) => production.start({ env: { DATABASE_URL: urlOf("serve"), ...env } }),
    async [Symbol.asyncDispose]() {
      await production.end();
      for (const role of ["serve", "jane", "john", "admin", "payouts", "report", "migrate", "audit"]) {
        await runStatement(database.url, `drop owned by ${name}_${role} cascade`);
        await runStatement(database.url, `drop role ${name}_${role}`);
      }
      await database.remove();
    },
  };
}
