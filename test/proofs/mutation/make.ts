import type { Constraint } from "../../../openapi/document/constraints.ts";
import type { Node } from "../../../openapi/document/node.ts";
import type { Mutant } from "./mutant.ts";
import { mutantsOfConstraints } from "./of-constraints.ts";
import { mutantsOfExtensions } from "./of-extensions.ts";
import { mutantsOfMessages } from "./of-messages.ts";
import { mutantsOfSchemas } from "./of-schemas.ts";

/** Every mutant of a document, in the order of its parts. Throws when two would have one name. */
export function makeMutants(document: Node, constraints: readonly Constraint[]): Mutant[] {
  const mutants = [
    ...mutantsOfConstraints(constraints),
    ...mutantsOfSchemas(document, constraints),
    ...mutantsOfMessages(document),
    ...mutantsOfExtensions(document),
  ];
  const names = new Set<string>();
  for (const { name } of mutants) {
    if (names.has(name)) throw new Error(`two mutants have the name ${name}`);
    names.add(name);
  }
  return mutants;
}
