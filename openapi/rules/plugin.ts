import { amounts } from "./amounts.ts";
import { bounded } from "./bounded.ts";
import { closed } from "./closed.ts";
import { events } from "./events.ts";
import { examplesUsed } from "./examples-used.ts";
import { patternMessages } from "./pattern-messages.ts";
import { portable } from "./portable.ts";
import { createSourceRule } from "./source.ts";

/**
 * The rules that this contract is held to beyond those that Redocly brings, as `contract/<name>`. Redocly calls this with
 * the folder of its configuration, which paths in options start from.
 */
export default function contractPlugin({ contentDir }: { contentDir: string }) {
  return {
    id: "contract",
    rules: {
      oas3: {
        source: createSourceRule(contentDir),
        amounts,
        closed,
        bounded,
        events,
        "examples-used": examplesUsed,
        "pattern-messages": patternMessages,
        portable,
      },
    },
  };
}
