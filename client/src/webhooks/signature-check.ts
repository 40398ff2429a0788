import { parseJson } from "../json.ts";
import { createSign, includesSignature, type Sign, type SignedContent } from "./signature.ts";

/** The `secretKey` of a subscription, or several keys: while one replaces another, or for several subscriptions. */
export type WebhookSecrets = string | readonly string[];

/** Verifies signatures with each secret. */
export type SignatureCheck = {
  isSigned(content: SignedContent, signatures: string): boolean;
  /** Explains a common mistake that makes a delivery look unsigned; empty when none of them was made. */
  explain(content: SignedContent, signatures: string): string;
};

/** @throws TypeError when there is no secret, or one is empty or not a string */
export function createSignatureCheck(secretKey: WebhookSecrets): SignatureCheck {
  const secrets = typeof secretKey === "object" && secretKey?.length ? secretKey : [secretKey as string];
  const signs = secrets.map(createSign);
  const isSigned = (content: SignedContent, signatures: string) =>
    signs.some((sign) => includesSignature(signatures, sign(content)));
  return {
    isSigned,
    explain(content, signatures) {
      const matches = (sign: Sign) => includesSignature(signatures, sign(content));
      if (secrets.flatMap(cleaned).map(createSign).some(matches)) {
        return " It matches without the white space or quotes around the secret: take them away where it is read.";
      }
      if (likelyOriginals(content.body).some((body) => isSigned({ ...content, body }, signatures))) {
        return " It matches with other white space in the body: pass on the raw body, before anything parses it.";
      }
      return "";
    },
  };
}

/** The secret without the spaces or quotes that a file or a shell left around it; empty when there are none. */
function cleaned(secret: string): string[] {
  const text = secret.trim().replace(/^(["'])(.+)\1$/, "$2");
  return text === secret || text === "" ? [] : [text];
}

/** A body that was trimmed, or parsed and written again in another layout. */
function likelyOriginals(body: string): string[] {
  const value = parseJson(body);
  const texts = [body.trim(), value === undefined ? body : JSON.stringify(value)];
  return texts.filter((text) => text !== body);
}
