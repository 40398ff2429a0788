import { amounts } from "./amounts-rule.ts";
import { portable } from "./portability-rule.ts";
import { retry } from "./retry-rule.ts";
import { createSourceRule } from "./source-rule.ts";

/** The rules that Redocly's own can't express. Redocly calls this with the folder of its configuration. */
export default function contractPlugin({ contentDir }: { contentDir: string }) {
  return {
    id: "contract",
    rules: { oas3: { source: createSourceRule(contentDir), amounts, portable, retry } },
  };
}
