import type { Constraint } from "./constraint.ts";
import type { Call } from "./request.ts";
import {
  ACCEPT_SAMPLES,
  KEPT_ACCEPTS,
  KEPT_MEDIA_TYPES,
  MALFORMED_SAMPLES,
  MEDIA_TYPE_SAMPLES,
} from "./samples.ts";

/** A change of a valid call; if it violates the document, with the expected status and the pointer of the violation. */
export type CallChange = {
  readonly name: string;
  readonly changes: Partial<Call>;
  readonly status: number;
  readonly pointer?: string;
};

/** Changes that violate the document's rules for calls as a whole; none for rules about values. */
export function breakingCalls({ keyword, side, value }: Constraint, call: Call): CallChange[] {
  const { headers, body } = call;
  switch (keyword) {
    case "security":
      return brokenTokens(headers);
    case "scope":
      return [{ name: "a token without the scope", changes: { token: "unscoped" }, status: 403 }];
    case "requestBody":
      return MALFORMED_SAMPLES.map(([name, text]) => ({
        name: `a body that is ${name}`,
        changes: { body: text },
        status: 400,
        pointer: "",
      }));
    case "content":
      if (side === "response") {
        // A stream of events is text, so this range admits it.
        const isText = JSON.stringify(value).includes("text/event-stream");
        const refused = ACCEPT_SAMPLES.filter((accept) => !(isText && accept === "text/*"));
        return refused.map((Accept) => ({
          name: `Accept ${Accept}`,
          changes: { headers: { ...headers, Accept } },
          status: 406,
        }));
      }
      return [
        ...MEDIA_TYPE_SAMPLES.map((sample) => ({
          name: `a body as ${Object.values(sample).map(String).join(" with ")}`,
          changes: { headers: withHeaders(headers, sample) },
          status: 415,
        })),
        {
          name: "a body that ends early",
          changes: { body: (body ?? "").slice(0, -1) },
          status: 400,
          pointer: "",
        },
      ];
    default:
      return [];
  }
}

/** Changes of the same parts that the document allows. */
export function acceptedCalls({ keyword, side }: Constraint, { headers }: Call): CallChange[] {
  if (keyword !== "content") return [];
  const [name, values] = side === "response" ? ["Accept", KEPT_ACCEPTS] : ["Content-Type", KEPT_MEDIA_TYPES];
  return values.map((value) => ({
    name: `${name} ${value}`,
    changes: { headers: { ...headers, [name]: value } },
    status: 200,
  }));
}

function brokenTokens(headers: Call["headers"]): CallChange[] {
  const schemes = ["Basic YWNtZTphY21l", "Bearer", "Token"].map((Authorization) => ({
    name: `Authorization ${Authorization}`,
    changes: { token: "absent" as const, headers: { ...headers, Authorization } },
    status: 401,
  }));
  return [
    { name: "no token", changes: { token: "absent" }, status: 401 },
    { name: "an unknown token", changes: { token: "unknown" }, status: 401 },
    ...schemes,
  ];
}

function withHeaders(
  headers: Call["headers"],
  sample: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const all = Object.entries({ ...headers, ...sample });
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== null));
}
