import { readFile } from "node:fs/promises";
import { parse } from "yaml";

export const RULES = "server/operators/run/alerts.yaml";

export type Rule = {
  alert?: string;
  expr: string;
  for?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
};

export async function readRules(): Promise<{ rules: Rule[] }[]> {
  return parse(await readFile(RULES, "utf8")).groups;
}
