import { existsSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { step } from "../document/pointer.ts";
import { type DocumentNode, isNode, type Rule } from "./redocly.ts";

/** Folder of the example files, relative to the root of the document. */
export type ExamplesUsedOptions = { folder?: string };

const needsExample = /^application\/(problem\+)?json\b/;

/** Holds every JSON body to a named example, and every shared example to a use. */
export const examplesUsed: Rule<ExamplesUsedOptions> = ({ folder = "components/examples" }) => {
  const used = new Set<string>();
  return {
    ref: {
      enter(node, ctx) {
        if (typeof node.$ref === "string") used.add(targetOf(node.$ref, ctx.location.source.absoluteRef));
      },
    },
    MediaType(media, ctx) {
      if (!needsExample.test(String(ctx.key))) return;
      if (isNode(media.examples) && Object.keys(media.examples).length > 0) return;
      ctx.report({ message: `The body as ${ctx.key} has no named example: add one under \`examples\`.` });
    },
    Root: {
      leave(root, ctx) {
        const file = ctx.location.source.absoluteRef;
        for (const name of unusedEntries(root, file, used)) {
          const location = ctx.location.child(["components", "examples", name]).key();
          ctx.report({ message: `The example \`${name}\` is used nowhere: use it or remove it.`, location });
        }
        for (const path of unusedFiles(resolve(dirname(file), folder), used)) {
          const name = relative(dirname(file), path).split(sep).join("/");
          ctx.report({ message: `The example file ${name} is used nowhere: use it or remove it.` });
        }
      },
    },
  };
};

/** A reference as it is written, made absolute, so that the entry in between two references counts as used too. */
function targetOf(reference: string, from: string): string {
  const [file = "", pointer = ""] = reference.split("#");
  return `${file === "" ? from : resolve(dirname(from), file)}#${pointer}`;
}

function unusedEntries(root: DocumentNode, file: string, used: ReadonlySet<string>): string[] {
  const examples = isNode(root.components) ? root.components.examples : undefined;
  if (!isNode(examples)) return [];
  return Object.keys(examples).filter((name) => !used.has(`${file}#/components/examples${step(name)}`));
}

function unusedFiles(folder: string, used: ReadonlySet<string>): string[] {
  if (!existsSync(folder)) return [];
  const files = new Set(Array.from(used, (target) => target.slice(0, target.indexOf("#"))));
  return readdirSync(folder)
    .filter((name) => /\.(ya?ml|json)$/.test(name))
    .map((name) => join(folder, name))
    .filter((path) => !files.has(path))
    .sort();
}
