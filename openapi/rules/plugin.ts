import { amounts } from "./amounts.ts";
import { portable } from "./portable.ts";
import { retry } from "./retry.ts";
import { createSourceRule } from "./source.ts";

/**
 * The rules of this contract that Redocly's own can't express, as `contract/<name>`. Redocly calls this with the folder of its
 * configuration.
 */
export default function contractPlugin({ contentDir }: { contentDir: string }) {
  return {
    id: "contract",
    rules: { oas3: { source: createSourceRule(contentDir), amounts, portable, retry } },
  };
}
