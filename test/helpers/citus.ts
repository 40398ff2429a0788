import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Where Debian puts the programs of PostgreSQL, by version. */
const DEBIAN = "/usr/lib/postgresql";

/**
 * The folder of the programs of a PostgreSQL with Citus: that of `PG_CONFIG`, if it is set, or else of the `pg_config` in the
 * path, or one of Debian's. Undefined when Citus is installed in none of them.
 */
export function findCitus(): string | undefined {
  const given = process.env.PG_CONFIG;
  return (given ? [given] : listPgConfigs()).flatMap(programsWithCitus)[0];
}

/** The same where the tests need it. */
export function requireCitus(): string {
  const programs = findCitus();
  if (programs) return programs;
  throw new Error("There is no PostgreSQL with Citus here. Install it, and name its pg_config in PG_CONFIG.");
}

function listPgConfigs(): string[] {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).toReversed() : [];
  return ["pg_config", ...versions.map((version) => join(DEBIAN, version, "bin/pg_config"))];
}

function programsWithCitus(pgConfig: string): string[] {
  try {
    const output = execFileSync(pgConfig, ["--bindir", "--pkglibdir", "--sharedir"], { encoding: "utf8" });
    const [programs = "", libraries = "", shared = ""] = output.trim().split("\n");
    const parts = [
      join(programs, "postgres"),
      join(libraries, "citus.so"),
      join(shared, "extension/citus.control"),
    ];
    return parts.every((part) => existsSync(part)) ? [programs] : [];
  } catch {
    return []; // there is no such program, or it is that of another kind of PostgreSQL
  }
}
