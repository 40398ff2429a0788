import { expect, test } from "vitest";
import { runCommand } from "../../helpers/admin-command.ts";
import { createTestDatabase } from "../../helpers/databases.ts";
import { forSuite } from "../../helpers/suite.ts";

const database = forSuite(() => createTestDatabase("postgres"));

test("npm run admin -- distribute refuses plain PostgreSQL, and says so in its record", async () => {
  const env = { DATABASE_URL: database.url };

  const { code, stdout, stderr, log } = await runCommand(["distribute"], { env });

  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^This database is plain PostgreSQL, .*\n$/);
  expect(log.map((line) => JSON.parse(line).outcome)).toEqual(["begun", "refused"]);
});
