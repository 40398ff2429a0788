import { readFileSync } from "node:fs";

const GUIDE = readFileSync(new URL("../../docs/guides/going-live.md", import.meta.url), "utf8");

/** A script of the guide “Going live”, for the roles of the database. */
export function readScript(file: "roles.sql" | "rights.sql"): string {
  return new RegExp(`\`\`\`sql file=${file}\n([\\s\\S]*?)\`\`\``).exec(GUIDE)?.[1] ?? "";
}
