import { errors } from "undici";
import { ForbiddenAddressError } from "./lookup.ts";

const BY_CODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was closed before an answer came",
  EPIPE: "the connection was closed before an answer came",
  UND_ERR_SOCKET: "the connection was closed before an answer came",
  ENOTFOUND: "the host name does not resolve",
  EAI_AGAIN: "the host name does not resolve",
  EHOSTUNREACH: "the host can't be reached",
  ENETUNREACH: "the host can't be reached",
  ETIMEDOUT: "no connection in time",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
  UND_ERR_HEADERS_OVERFLOW: "the answer's head is too large",
  CERT_HAS_EXPIRED: "the certificate has expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for another host",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "the certificate is self-signed",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the certificate's issuer is not trusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the certificate's issuer is not trusted",
};

/** Why no answer came, for the merchant to read; tells nothing of this server. */
export function describeFailure(error: unknown): string {
  if (error instanceof ForbiddenAddressError) return error.message;
  if (error instanceof errors.HTTPParserError) return "the answer is not HTTP";
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const known = BY_CODE[code];
  if (known) return known;
  if (code.startsWith("ERR_SSL") || code.startsWith("ERR_TLS")) return "no secure connection could be made";
  return code === "" ? "the attempt failed" : `the attempt failed (${code})`;
}
