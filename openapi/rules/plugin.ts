import { amounts } from "./amounts.ts";
import { portable } from "./portable.ts";
import { retry } from "./retry.ts";
import { createSourceRule } from "./source.ts";

/** The rules that Redocly's own can't express. Redocly calls this with the folder of its configuration. */
export default function contractPlugin({ contentDir }: { contentDir: string }) {
  return {
    id: "contract",
    rules: { oas3: { source: createSourceRule(contentDir), amounts, portable, retry } },
  };
}
