/** Mutants of constraints: the contract with one keyword removed or changed, such as maxLength 64 to 65. */
import { mutate as mutatePattern } from "weapon-regex";
import type { Constraint } from "../../../openapi/document/constraints.ts";
import { KEYWORDS } from "../../../openapi/document/known-keywords.ts";
import { step } from "../../../openapi/document/pointer.ts";
import { type Mutant, mutant, put, remove } from "./mutant.ts";

type Maker = (constraint: Constraint) => Mutant[];

/** Changes of a constraint. Each part of the document is changed once, however often it is referenced. */
export function mutantsOfConstraints(constraints: readonly Constraint[]): Mutant[] {
  const rules = new Map(constraints.map((constraint) => [constraint.pointer, constraint]));
  return [...rules.values()].flatMap((rule) => (OUTSIDE_SCHEMAS[rule.keyword] ?? ofKeyword)(rule));
}

/** The keyword removed, and its value changed as `mistaken` says. */
const ofKeyword: Maker = ({ pointer, keyword, value, holder }) => {
  const { mistaken, holds } = KEYWORDS[keyword] ?? {};
  if (keyword === "required" && value === true) return [put(pointer, "required made optional", false)];
  if (holds === "branches")
    return (value as unknown[]).map((_branch, index) => remove(pointer + step(index), "branch removed"));
  const others = mistaken?.(value, holder) ?? [];
  return [
    remove(pointer, `${keyword} removed`),
    ...others.map((other) => put(pointer, `${keyword} changed`, other)),
    ...(keyword === "pattern" ? mutatePattern(String(value), "", { mutationLevels: [1] }) : []).map(
      ({ name, pattern }) => put(pointer, `pattern: ${name}`, pattern),
    ),
    ...(keyword === "if" ? ["then", "else"] : []).map((name) =>
      remove(pointer.replace(/if$/, name), `${name} removed`),
    ),
  ];
};

/** Rules for messages as a whole. */
const OUTSIDE_SCHEMAS: Readonly<Record<string, Maker>> = {
  scope: ({ pointer, value }) => [
    remove(pointer, "scope removed"),
    put(pointer, "scope changed", value === "refunds" ? "webhooks" : "refunds"),
  ],
  security: ({ pointer }) => [
    remove(pointer, "security removed"),
    mutant(pointer, "security made optional", (holder) => void (holder as unknown as unknown[]).push({})),
  ],
  requestBody: ({ pointer }) => [put(pointer, "required made optional", false)],
  content: ({ pointer, value }) => [
    mutant(pointer, "media type added", (holder, name) => {
      const content = holder[name] as Record<string, unknown>;
      content["text/plain"] = Object.values(content)[0];
    }),
    ...(value as string[]).flatMap((type) => [
      remove(pointer + step(type), "media type removed"),
      remove(`${pointer}${step(type)}/schema`, "schema of a media type removed"),
    ]),
  ],
  status: ({ pointer }) => [remove(pointer, "status removed")],
};
