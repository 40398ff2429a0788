import { X509Certificate } from "node:crypto";
import tls, { createSecureContext, rootCertificates, type SecureContext } from "node:tls";
import { ConfigError, type Environment, readTextFile } from "./environment.ts";

/** Reads the settings of deliveries alone, which no other connection uses. Throws {@link ConfigError}. */
export function readEgress(env: Environment): EgressSettings {
  return { proxy: readProxy(env.WEBHOOK_PROXY), secureContext: readSecureContext(env) };
}

/** How deliveries leave this server. */
export type EgressSettings = {
  /** The proxy through which they go, by CONNECT; undefined: they go directly. */
  proxy: URL | undefined;
  /** The certificates that they trust, and the one that they show; undefined: the usual authorities, and none. */
  secureContext: SecureContext | undefined;
};

function readProxy(text: string | undefined): URL | undefined {
  if (!text) return undefined;
  const url = URL.parse(text);
  const isProxy = url && /^https?:$/.test(url.protocol) && url.pathname + url.search + url.hash === "/";
  // The message leaves out the text, which may have a password.
  if (!isProxy) {
    throw new ConfigError(
      "WEBHOOK_PROXY must be the address of a proxy, such as http://proxy.internal:3128.",
    );
  }
  if (![url.username, url.password].every(isEncoded)) {
    throw new ConfigError(
      "The user name and the password in WEBHOOK_PROXY must be percent-encoded: a % is written as %25.",
    );
  }
  return url;
}

/** Whether a part of an address can be decoded, as for each delivery. */
function isEncoded(part: string): boolean {
  try {
    return decodeURIComponent(part) !== undefined;
  } catch {
    return false;
  }
}

function readSecureContext(env: Environment): SecureContext | undefined {
  const authorities = readAuthorities(env.WEBHOOK_CA_FILE);
  const client = readClientCertificate(env);
  if (!authorities && !client) return undefined;
  try {
    return createSecureContext({ ...(authorities && { ca: authorities }), ...client });
  } catch (error) {
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    throw new ConfigError(
      `WEBHOOK_CLIENT_CERT_FILE and WEBHOOK_CLIENT_KEY_FILE must be a certificate and its own key, in PEM (${code}).`,
    );
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The usual authorities and those of a file, because most receivers have a public certificate. */
function readAuthorities(path: string | undefined): string[] | undefined {
  if (!path) return undefined;
  const found = readTextFile("WEBHOOK_CA_FILE", path).match(CERTIFICATE) ?? [];
  if (found.length === 0 || !found.every(isCertificate))
    throw new ConfigError(`WEBHOOK_CA_FILE must have certificates in PEM: ${path}.`);
  // Node 22.13 has its own list only; later versions add NODE_EXTRA_CA_CERTS and those of the system.
  const usual = tls.getCACertificates ? tls.getCACertificates("default") : rootCertificates;
  return [...usual, ...found];
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}

function readClientCertificate(env: Environment): { cert: string; key: string } | undefined {
  const cert = env.WEBHOOK_CLIENT_CERT_FILE;
  const key = env.WEBHOOK_CLIENT_KEY_FILE;
  if (!cert && !key) return undefined;
  if (!cert || !key) {
    throw new ConfigError(
      "WEBHOOK_CLIENT_CERT_FILE and WEBHOOK_CLIENT_KEY_FILE belong together: set both, or neither.",
    );
  }
  return {
    cert: readTextFile("WEBHOOK_CLIENT_CERT_FILE", cert),
    key: readTextFile("WEBHOOK_CLIENT_KEY_FILE", key),
  };
}
