import type { HttpResponse } from "../../../openapi/document/contract.ts";
import type { Call, TokenKind } from "./calls.ts";

/** The access token to send for a kind; undefined sends none. */
export type Tokens = Readonly<Record<Exclude<TokenKind, "absent">, string>>;

/** Sends a call unchanged. The body of the response is undefined when it is empty, and a string when it is not JSON. */
export async function sendCall(baseUrl: string, call: Call, tokens: Tokens): Promise<HttpResponse> {
  const { method, path, token, headers, body } = call;
  const response = await fetch(baseUrl + path, {
    method,
    headers: { ...(token !== "absent" && { Authorization: `Bearer ${tokens[token]}` }), ...headers },
    // As bytes: for a text, fetch would add a Content-Type of its own.
    body: body === undefined ? null : Buffer.from(body),
  });
  return { status: response.status, headers: response.headers, body: parse(await response.text()) };
}

function parse(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
