import sha256 from "fast-sha256";

/** The data that a signature covers. */
export type SignedContent = {
  webhookId: string;
  /** Seconds since 1970. */
  timestamp: number;
  body: string;
};

/** Creates the signature of a delivery: `v1,` and base64. */
export type Sign = (content: SignedContent) => string;

/**
 * Signs as the service does, under a subscription's `secretKey`.
 *
 * @throws TypeError when the secret is empty or not a string, as a missing setting would be
 */
export function createSign(secretKey: string): Sign {
  if (typeof secretKey !== "string" || secretKey === "") {
    throw new TypeError("secretKey is missing: pass the one of your subscription.");
  }
  const key = toKey(secretKey);
  return ({ webhookId, timestamp, body }) => {
    const content = new TextEncoder().encode(`${webhookId}.${timestamp}.${body}`);
    return `v1,${btoa(String.fromCharCode(...sha256.hmac(key, content)))}`;
  };
}

const BASE64 = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;

/** Strict: truncated base64, or base64 with other characters in it, is used literally. */
function toKey(secretKey: string): Uint8Array {
  const base64 = BASE64.exec(secretKey)?.[1];
  return base64 ? Uint8Array.from(atob(base64), toByte) : new TextEncoder().encode(secretKey);
}

function toByte(character: string): number {
  return character.charCodeAt(0);
}

/** Whether one of the signatures, separated by spaces, is the expected one. */
export function includesSignature(signatures: string, expected: string): boolean {
  return signatures.split(" ").some((signature) => isEqual(signature, expected));
}

/** Takes the same time wherever the two differ, so that a signature cannot be guessed character by character. */
function isEqual(text: string, expected: string): boolean {
  if (text.length !== expected.length) return false;
  let difference = 0;
  for (let i = 0; i < expected.length; i += 1) difference |= text.charCodeAt(i) ^ expected.charCodeAt(i);
  return difference === 0;
}
