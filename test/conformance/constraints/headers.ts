import type { Constraint } from "../../../openapi/document/constraints.ts";

/** The token of a call: a valid one, none, an unknown one, or a valid one without the operation's scope. */
export type TokenKind = "valid" | "absent" | "unknown" | "unscoped";

/** A call to any server of the contract, as it goes over the wire. */
export type Call = {
  readonly operationId: string;
  readonly method: string;
  /** With its parameters filled in. */
  readonly path: string;
  /** The value of `Authorization`: `Bearer` and the token, unless `headers` sets it. */
  readonly token: TokenKind;
  /** All headers but the token. */
  readonly headers: Readonly<Record<string, string>>;
  /** Exactly as sent. */
  readonly body?: string;
};

/** A change of a valid call; if it violates the document, with the expected status and the pointer of the violation. */
export type CallChange = {
  readonly name: string;
  readonly changes: Partial<Call>;
  readonly status: number;
  readonly pointer?: string;
};

/** Values of Content-Type for JSON in UTF-8, and others. */
export const JSON_TYPES = [
  ...["application/json", "application/json; charset=utf-8", "APPLICATION/JSON"],
  'application/json;charset="UTF-8"',
];
export const OTHER_TYPES = [
  ...["text/plain", "text/json", "application/xml", "application/jsonl", "application/problem+json"],
  ...["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"],
  ...["application/json; charset=utf-16", "application/json; charset=iso-8859-1"],
];

/** Values of Accept that include JSON, and others. */
export const JSON_ACCEPTS = [
  ...["application/json", "*/*", "application/*", "text/html, application/json;q=0.1"],
  "application/json; charset=utf-8",
];
export const OTHER_ACCEPTS = [
  ...["text/xml", "text/*", "application/xml, text/html;q=0.9", "application/json;q=0"],
];

/** Values of Authorization with another scheme, or without a token. */
export const OTHER_SCHEMES = ["Basic YWNtZTphY21l", "Bearer", "Token"];

/** Changes that violate the document's rules for calls as a whole; none for rules about values. */
export function breakingCalls({ keyword, side, value }: Constraint, call: Call): CallChange[] {
  const { headers, body = "" } = call;
  const wrong = (status: number, name: string, changes: Partial<Call>) => ({ name, changes, status });
  const refused = (name: string, text: string) => ({ ...wrong(400, name, { body: text }), pointer: "" });
  const { "Content-Type": _type, ...untyped } = headers;
  switch (keyword) {
    case "security":
      return [
        wrong(401, "no token", { token: "absent" }),
        wrong(401, "an unknown token", { token: "unknown" }),
        ...OTHER_SCHEMES.map((Authorization) =>
          wrong(401, `Authorization ${Authorization}`, {
            token: "absent",
            headers: { ...headers, Authorization },
          }),
        ),
      ];
    case "scope":
      return [wrong(403, "a token without the scope", { token: "unscoped" })];
    case "requestBody":
      return [refused("an empty body", ""), refused("a blank body", " ")];
    case "content":
      if (side === "request")
        return [
          wrong(415, "a body without a media type", { headers: untyped }),
          ...OTHER_TYPES.map((type) =>
            wrong(415, `a body as ${type}`, { headers: { ...headers, "Content-Type": type } }),
          ),
          ...["gzip", "identity"].map((encoding) =>
            wrong(415, `a body with ${encoding}`, { headers: { ...headers, "Content-Encoding": encoding } }),
          ),
          refused("a body that ends early", body.slice(0, -1)),
        ];
      // A stream of events is text, so this range admits it.
      return OTHER_ACCEPTS.filter(
        (accept) => accept !== "text/*" || !(value as string[]).includes("text/event-stream"),
      ).map((Accept) => wrong(406, `Accept ${Accept}`, { headers: { ...headers, Accept } }));
    default:
      return [];
  }
}

/** Changes of the same parts that the document allows. */
export function acceptedCalls({ keyword, side }: Constraint, { headers }: Call): CallChange[] {
  if (keyword !== "content") return [];
  const [name, values] = side === "response" ? ["Accept", JSON_ACCEPTS] : ["Content-Type", JSON_TYPES];
  return values.map((value) => ({
    name: `${name} ${value}`,
    changes: { headers: { ...headers, [name]: value } },
    status: 200,
  }));
}
