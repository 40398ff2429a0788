import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { format } from "node:util";
import ts from "typescript";

/** The title of a test for the first case of its table, and the number of cases: 1 without a table. */
export type Cases = { readonly title: string; readonly count: number };

/** Stands for a value that only the running test has. */
const UNKNOWN = Symbol("unknown");

const PLACEHOLDER = /%[sdifjoOc#$%]|\$[\w.#]+/;

/**
 * Computes the name that a test has when it runs, such as `of pay_settled responds with 201` of the first row of a table.
 *
 * @param call such as `test("…", …)` or `test.each([…])("…", …)`
 * @returns undefined when the title or its values are computed at run time
 */
export function readCases(call: ts.CallExpression, source: ts.SourceFile): Cases | undefined {
  const [argument] = call.arguments;
  if (!argument || !ts.isStringLiteralLike(argument)) return undefined;
  const template = argument.text;
  const table = tableOf(call.expression);
  if (!table) return { title: template, count: 1 };
  const rows = evaluate(table, source);
  if (!Array.isArray(rows) || rows.length === 0) return undefined;
  const title = fill(template, rows[0]);
  return title === undefined ? undefined : { title, count: rows.length };
}

/** The rows of `test.each(rows)` or `describe.for(rows)`. */
function tableOf(callee: ts.Expression): ts.Expression | undefined {
  if (!ts.isCallExpression(callee) || !ts.isPropertyAccessExpression(callee.expression)) return undefined;
  return ["each", "for"].includes(callee.expression.name.text) ? callee.arguments[0] : undefined;
}

/** Fills in a title as Vitest does, for the values that the tables of marked tests have: texts, numbers, and lists of texts. */
function fill(template: string, row: unknown): string | undefined {
  const values: unknown[] = Array.isArray(row) ? row : [row];
  const count = template.match(/%[sdj]/g)?.length ?? 0;
  const used = values.slice(0, count);
  const named = format(template, ...used).replaceAll(/\$(\w+)/g, (_, key: string) =>
    String(memberOf(row, key)),
  );
  const isKnown = used.length === count && used.every((value) => isPlain(value));
  return isKnown && !PLACEHOLDER.test(named) && !named.includes(String(UNKNOWN)) ? named : undefined;
}

function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((part) => typeof part === "string");
  if (typeof value === "object" && value !== null) return Object.values(value).every(isPlain);
  return typeof value === "string" || typeof value === "number";
}

function memberOf(row: unknown, key: string): unknown {
  if (typeof row !== "object" || row === null) return UNKNOWN;
  const value: unknown = Object.entries(row).find(([name]) => name === key)?.[1];
  return typeof value === "string" ? value : UNKNOWN;
}

function evaluate(node: ts.Expression, source: ts.SourceFile): unknown {
  if (ts.isAsExpression(node) || ts.isSatisfiesExpression(node) || ts.isParenthesizedExpression(node))
    return evaluate(node.expression, source);
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isNumericLiteral(node)) return Number(node.text);
  if (ts.isIdentifier(node)) return readConstant(node.text, source);
  // Such as other engines for `npm run proof -- engines`: the condition doesn't hold in the run of all tests.
  if (ts.isConditionalExpression(node)) return evaluate(node.whenFalse, source);
  if (ts.isArrayLiteralExpression(node)) {
    if (node.elements.some((element) => ts.isSpreadElement(element))) return UNKNOWN;
    return node.elements.map((element) => evaluate(element, source));
  }
  if (ts.isObjectLiteralExpression(node)) {
    const members = node.properties.map((property) =>
      ts.isPropertyAssignment(property) && ts.isIdentifier(property.name)
        ? [property.name.text, evaluate(property.initializer, source)]
        : [property.getText(source), UNKNOWN],
    );
    return Object.fromEntries(members);
  }
  return readFlatCall(node, source);
}

/** `[[…], […]].flat()`, the one call that tables are written with. */
function readFlatCall(node: ts.Expression, source: ts.SourceFile): unknown {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return UNKNOWN;
  const { name, expression } = node.expression;
  const list = name.text === "flat" ? evaluate(expression, source) : UNKNOWN;
  return Array.isArray(list) ? list.flat() : UNKNOWN;
}

/** The value of a constant at the top of the file, or in the module of ours from which it is imported. */
function readConstant(name: string, source: ts.SourceFile): unknown {
  for (const statement of source.statements) {
    if (ts.isVariableStatement(statement)) {
      const found = statement.declarationList.declarations.find(
        (declaration) => ts.isIdentifier(declaration.name) && declaration.name.text === name,
      );
      if (found) return found.initializer ? evaluate(found.initializer, source) : UNKNOWN;
    }
    if (ts.isImportDeclaration(statement) && importsName(statement, name)) {
      const specifier = ts.isStringLiteral(statement.moduleSpecifier) ? statement.moduleSpecifier.text : "";
      if (!specifier.startsWith(".")) return UNKNOWN;
      const path = join(dirname(source.fileName), specifier);
      return readConstant(
        name,
        ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true),
      );
    }
  }
  return UNKNOWN;
}

function importsName({ importClause }: ts.ImportDeclaration, name: string): boolean {
  const bindings = importClause?.namedBindings;
  return (
    bindings !== undefined &&
    ts.isNamedImports(bindings) &&
    bindings.elements.some((element) => element.name.text === name)
  );
}
