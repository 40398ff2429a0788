import type { SignedContent } from "./sign.ts";

/**
 * Explains a common mistake that makes a delivery look unsigned; empty when it finds none.
 *
 * @param matches whether the delivery's signature is that of this content under this secret
 */
export function explainMismatch(
  content: SignedContent,
  secrets: readonly string[],
  matches: (content: SignedContent, secret: string) => boolean,
): string {
  if (secrets.flatMap(cleaned).some((secret) => matches(content, secret))) {
    return " It matches without white space or quotes around the secret: remove them.";
  }
  const originals = likelyOriginals(content.body).map((body) => ({ ...content, body }));
  if (originals.some((original) => secrets.some((secret) => matches(original, secret)))) {
    return " It matches the body in another layout: pass it on raw, not parsed.";
  }
  return "";
}

/** The secret without the spaces or quotes that a file or a shell left around it; empty when there are none. */
function cleaned(secret: string): string[] {
  const text = secret.trim().replace(/^(["'])(.+)\1$/, "$2");
  return text === secret || text === "" ? [] : [text];
}

/** The body before white space was added to it, and before it was parsed and written again. */
function likelyOriginals(body: string): string[] {
  return [body.trim(), rewritten(body)].filter((text) => text !== body);
}

/** The text itself if it is not JSON, or too deep to be written. */
function rewritten(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body));
  } catch {
    return body;
  }
}
