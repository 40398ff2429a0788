import { members, type Node } from "../../../openapi/document/node.ts";
import { step } from "../../../openapi/document/pointer.ts";
import { type Draft, type Mutant, mutant, put, remove, renameMember } from "./mutant.ts";

/** Changes of parts that no validator reads: the transitions of a status, the categories of events, the tags of a union. */
export function mutantsOfExtensions(document: Node): Mutant[] {
  const schemas = members((document.components as Node).schemas);
  return schemas.flatMap(([name, schema]) => {
    const here = `/components/schemas/${name}`;
    return [
      ...ofTransitions(`${here}/x-transitions`, schema["x-transitions"]),
      ...ofCategories(`${here}/x-event-categories`, schema["x-event-categories"]),
      ...ofDiscriminator(`${here}/discriminator`, schema.discriminator),
    ];
  });
}

/** Wrong values for a status or a trigger. */
const MISTAKEN: Readonly<Record<string, string>> = {
  PENDING: "AUTHORIZED",
  AUTHORIZED: "PENDING",
  TERMINAL_FAILED: "AUTHORIZED",
  null: "PENDING",
  issue: "time",
  time: "issue",
  "original-failed": "original-covered",
  "original-covered": "original-failed",
};

function ofTransitions(pointer: string, transitions: unknown): Mutant[] {
  const entries = members(transitions);
  if (entries.length === 0) return [];
  return [
    remove(pointer, "x-transitions removed"),
    ...entries.flatMap(([index, move]) => [
      remove(pointer + step(index), "move removed"),
      ...["from", "trigger", "to"].map((part) =>
        put(`${pointer}/${index}/${part}`, `move with another ${part}`, MISTAKEN[String(move[part])]),
      ),
    ]),
    ...[
      ["AUTHORIZED", "time", "PENDING"],
      ["TERMINAL_FAILED", "issue", "PENDING"],
    ].map(([from, trigger, to]) =>
      mutant(
        pointer,
        "move added",
        (holder, name) => void (holder[name] as unknown[]).push({ ...entries[0]?.[1], from, trigger, to }),
        `from ${from}`,
      ),
    ),
  ];
}

function ofCategories(pointer: string, categories: unknown): Mutant[] {
  const lists = members(categories);
  if (lists.length === 0) return [];
  return [
    remove(pointer, "x-event-categories removed"),
    ...lists.flatMap(([category, events], at) => [
      remove(pointer + step(category), "category removed"),
      mutant(pointer + step(category), "category renamed", (holder, name) =>
        renameMember(holder, name, `${name}X`),
      ),
      ...members(events).flatMap(([index]) => [
        remove(pointer + step(category) + step(index), "event taken out of its category"),
        moveEvent(pointer, {
          from: category,
          index: Number(index),
          to: lists[(at + 1) % lists.length]?.[0] ?? "",
        }),
      ]),
    ]),
  ];
}

function moveEvent(
  pointer: string,
  { from, index, to }: { from: string; index: number; to: string },
): Mutant {
  const move = (holder: Draft, name: string) => {
    const lists = holder[name] as Record<string, string[]>;
    lists[to]?.push(...(lists[from]?.splice(index, 1) ?? []));
  };
  return mutant(pointer, "event moved", move, `from ${from} ${index} to ${to}`);
}

function ofDiscriminator(pointer: string, discriminator: unknown): Mutant[] {
  if (typeof discriminator !== "object" || discriminator === null) return [];
  const { propertyName, mapping } = discriminator as {
    propertyName: string;
    mapping: Record<string, string>;
  };
  const targets = Object.entries(mapping);
  return [
    remove(pointer, "discriminator removed"),
    put(`${pointer}/propertyName`, "discriminator changed", `${propertyName}X`),
    remove(`${pointer}/mapping`, "mapping removed"),
    ...targets.flatMap(([tag], index) => [
      remove(`${pointer}/mapping${step(tag)}`, "tag removed"),
      put(
        `${pointer}/mapping${step(tag)}`,
        "tag of another branch",
        targets[(index + 1) % targets.length]?.[1],
      ),
    ]),
  ];
}
