import { members, type Node, walk } from "../../../openapi/document/node.ts";
import { toPointer } from "../../../openapi/document/pointer.ts";
import { type Mutant, put, remove } from "./mutant.ts";

/** Parts that no validator reads: the transitions of a status, the categories of events, the tags of a union. */
const EXTENSIONS = ["x-transitions", "x-event-categories", "discriminator"];

/** Members for readers. */
const FOR_READERS = ["when", "source"];

/** Each part of an extension removed, and each text changed. */
export function mutantsOfExtensions(document: Node): Mutant[] {
  return members((document.components as Node).schemas).flatMap(([name, schema]) =>
    EXTENSIONS.filter((extension) => extension in schema).flatMap((extension) =>
      [...walk(schema[extension], FOR_READERS)].flatMap(({ path, part }) => {
        const pointer = toPointer(["components", "schemas", name, extension, ...path]);
        const text =
          typeof part === "string" ? [put(pointer, `text of ${extension} changed`, `${part}X`)] : [];
        return [remove(pointer, `part of ${extension} removed`), ...text];
      }),
    ),
  );
}
