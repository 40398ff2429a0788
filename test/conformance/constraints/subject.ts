import { locate, members, type Node } from "../../../openapi/document/node.ts";
import { step } from "../../../openapi/document/pointer.ts";
import type { BodyModel } from "./bases.ts";
import { type FindViolations, requestSchema } from "./body-check.ts";
import type { Constraint } from "./constraint.ts";
import { replaceTexts } from "./json.ts";
import type { Call, RequestOptions } from "./request.ts";
import { withKey } from "./request.ts";

/** An operation for which requests are generated. */
export type Subject = {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Node[];
  /** Error codes by documented status; empty for a success. */
  readonly codes: ReadonlyMap<number, string>;
  /** Undefined when the operation takes no body. */
  readonly body: BodyModel | undefined;
  readonly options: RequestOptions;
  readonly findViolations: FindViolations;
};

type Input = Pick<Subject, "options" | "findViolations"> & {
  readonly document: Node;
  readonly constraints: readonly Constraint[];
};

/** Every operation of a document, in its order. */
export function subjectsOf(input: Input): Subject[] {
  return members(input.document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => toSubject(input, path, method)),
  );
}

function toSubject(
  { document, constraints, options, findViolations }: Input,
  path: string,
  method: string,
): Subject {
  const pointer = `/paths${step(path)}${step(method)}`;
  const [, operation] = locate(document, pointer);
  const operationId = String(operation.operationId);
  const schema = requestSchema(document, pointer);
  const body: BodyModel | undefined =
    schema === undefined
      ? undefined
      : {
          constraints: constraints.filter(
            (constraint) =>
              constraint.operationId === operationId &&
              constraint.side === "request" &&
              constraint.part.in === "body",
          ),
          examples: examplesAt(document, schema.slice(0, -"/schema".length)).map((value) =>
            withKey(replaceTexts(value, options.ids ?? {}), `${options.requestKeyPrefix}0`),
          ),
          violationsOf: (value) => findViolations(schema, value),
        };
  const parameters = members(operation.parameters).map(
    ([index]) => locate(document, `${pointer}/parameters${step(index)}`)[1],
  );
  const codes = new Map(
    members(operation.responses).map(([status]) => [
      Number(status),
      codeOf(document, `${pointer}/responses${step(status)}`),
    ]),
  );
  return {
    operationId,
    method: method.toUpperCase(),
    path,
    parameters,
    codes,
    body,
    options,
    findViolations,
  };
}

function examplesAt(document: Node, pointer: string): unknown[] {
  const [here, mediaType] = locate(document, pointer);
  return members(mediaType.examples).map(
    ([name]) => locate(document, `${here}/examples${step(name)}`)[1].value,
  );
}

/** The code that the examples of a response carry. */
function codeOf(document: Node, pointer: string): string {
  const [here, response] = locate(document, pointer);
  const [mediaType] = members(response.content)[0] ?? [];
  if (mediaType === undefined) return "";
  const [example] = examplesAt(document, `${here}/content${step(mediaType)}`);
  return String((example as { errorDetails?: Node } | undefined)?.errorDetails?.errorCode ?? "");
}

/** A call that is valid except for `changes`. */
export function toCall(subject: Subject, changes: Partial<Call> = {}): Call {
  const { operationId, method, body } = subject;
  const type = body === undefined || changes.body === undefined ? {} : { "Content-Type": "application/json" };
  return {
    operationId,
    method,
    path: fillPath(subject),
    token: "valid",
    headers: { ...type, Accept: "application/json" },
    ...changes,
  };
}

/** The path with the examples of its parameters, or with other values for some of them. */
export function fillPath(
  { path, parameters, options }: Subject,
  texts: Readonly<Record<string, string>> = {},
): string {
  const examples = Object.fromEntries(parameters.map(({ name, example }) => [name, example]));
  const all = { ...(replaceTexts(examples, options.ids ?? {}) as Record<string, string>), ...texts };
  const query = new URLSearchParams(
    Object.entries(texts).filter(([name]) =>
      parameters.some((one) => one.name === name && one.in === "query"),
    ),
  ).toString();
  const filled = path.replaceAll(/\{(\w+)\}/g, (_text, name: string) => encodeURIComponent(all[name] ?? ""));
  return query === "" ? filled : `${filled}?${query}`;
}

/** The response that the document promises for a status. Throws when the operation does not document it. */
export function promised({ codes, operationId }: Subject, status: number): { status: number; code: string } {
  const code = codes.get(status);
  if (code === undefined) throw new Error(`${operationId} does not document ${status}`);
  return { status, code };
}
