import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/**
 * Why a token is refused for the client certificate that it is bound to (RFC 8705, 3.1); undefined when it is bound to none, or
 * to the caller's own.
 * @param confirmation the claim `cnf`
 * @param headerName the header in which a trusted proxy sends the caller's certificate, in lower case
 */
export function findBindingError(
  confirmation: unknown,
  headers: IncomingHttpHeaders,
  headerName: string | undefined,
): string | undefined {
  if (confirmation === undefined) return undefined;
  const expected = toThumbprintClaim(confirmation);
  if (expected === undefined) return "cnf asks for another proof than x5t#S256";
  if (headerName === undefined) return "cnf can't be verified without AUTH_CLIENT_CERT_HEADER";
  const header = headers[headerName];
  if (header === undefined) return "cnf names a client certificate, and the call came without one";
  const certificate = typeof header === "string" ? readCertificate(header) : undefined;
  if (certificate === undefined) return "the client certificate's header can't be read";
  return hash("sha256", certificate, "base64url") === expected
    ? undefined
    : "cnf names another client certificate";
}

/** Undefined when `cnf` has anything else: a proof that this server can't check proves nothing. */
function toThumbprintClaim(confirmation: unknown): string | undefined {
  if (typeof confirmation !== "object" || confirmation === null) return undefined;
  const entries: [string, unknown][] = Object.entries(confirmation);
  const [[name, value] = []] = entries;
  return entries.length === 1 && name === "x5t#S256" && typeof value === "string" ? value : undefined;
}

const PEM = /^-----BEGIN CERTIFICATE-----\s([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----\s*$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * One certificate as proxies send it, in DER: base64 between colons (RFC 9440) or alone, or PEM with percent-encoding. Undefined
 * for anything else, such as the two values of a header that was sent twice.
 */
function readCertificate(header: string): Buffer | undefined {
  const text = decodePercent(header).replace(/^:(.*):$/, "$1");
  const base64 = (PEM.exec(text)?.[1] ?? text).replaceAll(/\s/g, "");
  return BASE64.test(base64) ? Buffer.from(base64, "base64") : undefined;
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
