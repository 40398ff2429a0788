import type { SignedContent } from "./sign.ts";

/**
 * Explains the common mistake because of which a genuine signature doesn't match; empty when it finds none.
 *
 * @param matches whether the delivery's signature is that of this content under this secret
 */
export function explainMismatch(
  content: SignedContent,
  secrets: readonly string[],
  matches: (content: SignedContent, secret: string) => boolean,
): string {
  const fits = (change: (secret: string) => readonly string[]) =>
    secrets.some((secret) =>
      change(secret).some((other) => ![secret, ""].includes(other) && matches(content, other)),
    );
  const mistake = MISTAKES.find(([change]) => fits(change));
  if (mistake) return ` It matches ${mistake[1]}.`;
  const originals = likelyOriginals(content.body).map((body) => ({ ...content, body }));
  if (originals.some((original) => secrets.some((secret) => matches(original, secret)))) {
    return " It matches the body in another layout: pass it on raw, not parsed.";
  }
  return "";
}

const strip = (secret: string) => secret.trim().replace(/^(["'])(.+)\1$/, "$2");

/** How to undo each mistake with a secret, and what to tell the merchant. */
const MISTAKES: readonly [change: (secret: string) => readonly string[], remedy: string][] = [
  [(secret) => [strip(secret) || secret], "without white space or quotes around the secret: remove them"],
  [(secret) => [strip(secret).replace(/^v1,/, "")], "without v1, before the secret: remove it"],
  [(secret) => [`${secret}=`, `${secret}==`], "with = after the secret: add it"],
  [(secret) => [`whsec_${secret}`, `whsec_${secret}=`], "with whsec_ before the secret: add it"],
  [
    (secret) =>
      ["\n", "\r\n", " "]
        .flatMap((edge) => [secret + edge, edge + secret])
        .concat(`"${secret}"`, `'${secret}'`),
    "with white space or quotes around the secret: the subscription was made with them",
  ],
];

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
