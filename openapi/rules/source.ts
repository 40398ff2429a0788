import { resolve } from "node:path";
import { createConditions } from "./conditions.ts";
import { readHeadings } from "./headings.ts";
import { type Context, type DocumentNode, isNode, type Rule, toList, type Visit } from "./redocly.ts";
import {
  addSource,
  type Targets,
  violationsOfEnumSource,
  violationsOfProperties,
  violationsOfSources,
} from "./source-list.ts";

/** Paths of the two Markdown files, relative to the folder of the configuration. */
export type SourceOptions = { interface?: string; decisions?: string };

const CLAUSE_ID = /\d+\.\d+/;
const DECISION_ID = /D\d{2}[a-z]?/;

/**
 * Holds every element of the contract to a source that exists (D00): operations, parameters, request bodies, responses,
 * headers, properties, values of enumerations and transitions.
 */
export function createSourceRule(folder: string): Rule<SourceOptions> {
  return ({ interface: clauses = "docs/interface.md", decisions = "docs/decisions.md" }) => {
    const targets: Targets = {
      clauses: readHeadings(resolve(folder, clauses), clauses, CLAUSE_ID),
      decisions: readHeadings(resolve(folder, decisions), decisions, DECISION_ID),
    };
    const conditions = createConditions();
    const reported = new Set<string>();

    return {
      any: {
        enter(node, ctx) {
          if (!isNode(node) || !("x-source" in node)) return;
          violationsOfSources(node["x-source"], ctx.location.child("x-source"), targets).forEach(ctx.report);
        },
      },
      ref: {
        enter(node, ctx) {
          if (!("x-source" in node)) return;
          const message =
            "`x-source` beside a `$ref` is lost when the document is bundled: move it to the target.";
          ctx.report({ message, location: ctx.location.child("x-source").key() });
        },
      },
      Operation: needsSource("operation"),
      Parameter: needsSource("parameter"),
      RequestBody: needsSource("request body"),
      Response: needsSource("response"),
      Header: needsSource("header"),
      Schema(schema, ctx) {
        if (!isNode(schema)) return;
        conditions.enter(schema, ctx);
        for (const violation of violationsOfProperties(schema, ctx, conditions)) {
          // Many properties may lead to one schema, which lacks its source once.
          const position = violation.location.source.absoluteRef + violation.location.pointer;
          if (reported.has(position)) continue;
          reported.add(position);
          ctx.report(violation);
        }
        violationsOfEnumSource(schema, ctx.location, targets, conditions.has(schema)).forEach(ctx.report);
        checkTransitions(schema, ctx, targets);
      },
    };
  };
}

function needsSource(what: string): Visit {
  return (node, ctx) => {
    if (!("x-source" in node)) ctx.report({ message: `The ${what} has no source: ${addSource}.` });
  };
}

function checkTransitions(schema: DocumentNode, ctx: Context, targets: Targets): void {
  for (const [index, transition] of toList(schema["x-transitions"]).entries()) {
    const location = ctx.location.child(["x-transitions", index]);
    if (isNode(transition) && "source" in transition) {
      violationsOfSources(transition.source, location.child("source"), targets).forEach(ctx.report);
    } else {
      ctx.report({
        message: "The transition has no source: add `source` with a list like `x-source`.",
        location,
      });
    }
  }
}
