import type { Constraint } from "../../../openapi/document/constraints.ts";
import { toContract } from "../../../openapi/document/contract.ts";
import type { Node } from "../../../openapi/document/node.ts";
import { wrongExtensions } from "./extension-checks.ts";
import type { Harness } from "./harness.ts";
import { type JudgedMessage, wrongMessages } from "./messages.ts";
import type { Mutant } from "./mutant.ts";
import { type Calls, callsWithin, messagesWithin, reachOf } from "./reach.ts";

/** The requests of the conformance kit, and messages; what is derived comes from the document without a mutation. */
export type Suite = Calls & { readonly messages: readonly JudgedMessage[] };

/** The part of the suite that detected the mutant, and its message. */
export type Notice = { readonly by: string; readonly what: string };

/** The first detection of a mutant by a part of the suite, the cheap parts first. */
export async function detect(
  mutant: Mutant,
  {
    suite,
    harness,
    document,
    constraints,
  }: { suite: Suite; harness: Harness; document: Node; constraints: readonly Constraint[] },
): Promise<Notice | undefined> {
  const mutated = mutant.apply(document);
  const reach = reachOf(mutant, constraints);
  const near = messagesWithin(reach, suite.messages);
  const calls = callsWithin(mutant, reach, suite);
  const parts: Record<string, () => string | undefined | Promise<string | undefined>> = {
    messages: () => first(wrongMessages(toContract(mutated), near)),
    extensions: () => first(wrongExtensions(mutated)),
    calls: () => harness.findMismatch(mutated, calls),
    "all messages": () => first(wrongMessages(toContract(mutated), suite.messages)),
  };
  for (const [by, find] of Object.entries(parts)) {
    const what = await attempt(find);
    if (what !== undefined) return { by, what };
  }
  return undefined;
}

/** A document that can't be read, or with which nothing starts, also counts as detected. */
async function attempt(
  find: () => string | undefined | Promise<string | undefined>,
): Promise<string | undefined> {
  try {
    return await find();
  } catch (error) {
    return `fails: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Nothing after it is generated. */
function first([found]: Iterable<string>): string | undefined {
  return found;
}
