import { readFileSync } from "node:fs";

/** The options of Node that the server is started with, by the command that operators use. */
export function serverOptions(): string[] {
  const { scripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return scripts["start:production"].match(/--\S+/g) ?? [];
}
