import { type Style, writeJson } from "./json-text.ts";

/** A change of bytes: at a relative position, some bytes are replaced. */
export type Edit = {
  /** The relative position, from 0 to 1, which stays inside when the length changes. */
  readonly at: number;
  readonly remove: number;
  readonly insert: Uint8Array;
};

/** The source of a body: its text, or a value, how it is written, and changes of its bytes. */
export type Body =
  | { readonly text: string }
  | {
      readonly value: unknown;
      /** The plainest JSON when left out. */
      readonly style?: Style;
      readonly edits?: readonly Edit[];
    };

/** One request, and the expectations of its response. */
export type Case = {
  /** How it was generated, for the counts. */
  readonly level: string;
  /** The operation whose responses the document declares; undefined when the request may reach none. */
  readonly operation?: string | undefined;
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Body | undefined;
  /** Changes of the whole message including the head; it is then sent on its own connection, which is closed afterwards. */
  readonly edits?: readonly Edit[];
  /** The statuses that the response may have; any documented one below 500 when left out. */
  readonly statuses?: readonly number[] | undefined;
  /** A valid refund: repeated, it must be a duplicate of exactly the record that it created. */
  readonly refund?: Readonly<Record<string, unknown>> | undefined;
};

/** The placeholder for the key in a valid body: each run inserts another key, so that a case can be repeated. */
export const FRESH_KEY = "@@@@@@@@@@@@";

/** The bytes of a case. */
export function toMessage({ method, target, headers, body, edits }: Case, freshKey: string): Buffer {
  const content = body && toContent(body, freshKey);
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  if (content) lines.push(`Content-Length: ${content.length}`);
  const head = `${[`${method} ${target} HTTP/1.1`, "Host: localhost", ...lines].join("\r\n")}\r\n\r\n`;
  return edit(Buffer.concat([Buffer.from(head, "latin1"), content ?? Buffer.of()]), edits);
}

function toContent(body: Body, freshKey: string): Buffer {
  if ("text" in body) return Buffer.from(body.text);
  return edit(Buffer.from(writeJson(withKey(body.value, freshKey), body.style)), body.edits);
}

function withKey(value: unknown, freshKey: string): unknown {
  if (typeof value !== "object" || value === null || !("requestKey" in value)) return value;
  const { requestKey } = value;
  if (typeof requestKey !== "string" || !requestKey.startsWith(FRESH_KEY)) return value;
  return { ...value, requestKey: freshKey + requestKey.slice(FRESH_KEY.length) };
}

function edit(bytes: Buffer, edits: readonly Edit[] = []): Buffer {
  return edits.reduce((before, { at, remove, insert }) => {
    const position = Math.floor(at * before.length);
    return Buffer.concat([before.subarray(0, position), insert, before.subarray(position + remove)]);
  }, bytes);
}
