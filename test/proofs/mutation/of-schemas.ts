import type { Constraint } from "../../../openapi/document/constraints.ts";
import { locate, members, type Node } from "../../../openapi/document/node.ts";
import { holderOf, step } from "../../../openapi/document/pointer.ts";
import { type Draft, type Mutant, mutant, put, remove, renameMember } from "./mutant.ts";

/** Changes of the shape of schemas: of their members, their items, and what they leave open. */
export function mutantsOfSchemas(document: Node, constraints: readonly Constraint[]): Mutant[] {
  const pointers = constraints
    .filter(({ keyword }) => keyword === "type")
    .map(({ pointer }) => holderOf(pointer));
  return [...new Set(pointers)].flatMap((pointer) => {
    const [, schema] = locate(document, pointer);
    return [
      ...members(schema.properties).flatMap(([name, property]) =>
        ofProperty(pointer, name, { schema, property }),
      ),
      ...ofItems(pointer, schema),
      ...(schema.additionalProperties === true
        ? [put(`${pointer}/additionalProperties`, "additionalProperties closed", false)]
        : []),
    ];
  });
}

function ofProperty(
  pointer: string,
  name: string,
  { schema, property }: { readonly schema: Node; readonly property: Node },
): Mutant[] {
  const here = `${pointer}/properties${step(name)}`;
  const required = (schema.required ?? []) as string[];
  return [
    remove(here, "property removed"),
    mutant(pointer, "property renamed", (holder, key) => renameProperty(holder[key] as Draft, name), name),
    ...(required.includes(name)
      ? []
      : [
          mutant(
            pointer,
            "optional made required",
            (holder, key) => void Reflect.set(holder[key] as Draft, "required", [...required, name]),
            name,
          ),
        ]),
    ...(property.$ref === undefined ? [] : [put(here, "reference emptied", {})]),
  ];
}

/** All keywords of the schema that name the property. */
function renameProperty(schema: Draft, name: string): void {
  const to = `${name}X`;
  renameMember(schema.properties as Draft, name, to);
  const renamed = (names: unknown) => (names as string[]).map((one) => (one === name ? to : one));
  if (schema.required) schema.required = renamed(schema.required);
  const { dependentRequired } = schema as { dependentRequired?: Draft };
  if (!dependentRequired) return;
  for (const [trigger, names] of Object.entries(dependentRequired))
    dependentRequired[trigger] = renamed(names);
  if (name in dependentRequired) renameMember(dependentRequired, name, to);
}

function ofItems(pointer: string, schema: Node): Mutant[] {
  if (schema.items === undefined) return [];
  return [
    remove(`${pointer}/items`, "items removed"),
    mutant(
      pointer,
      "uniqueItems added",
      (holder, key) => void Reflect.set(holder[key] as Draft, "uniqueItems", true),
    ),
  ];
}
