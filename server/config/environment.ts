import { readFileSync } from "node:fs";

/* Helpers that read a single setting: from a variable of the environment, or from a file that one names. */

export type Environment = Readonly<Record<string, string | undefined>>;

/** A setting that is missing, malformed or unsafe; the message names the variable and the remedy. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

/** The secret settings, each of which may also be in a file, named by the variable with `_FILE` at its end. */
export const SECRET_SETTINGS = [
  "DATABASE_URL",
  "ENCRYPTION_KEY",
  "ENCRYPTION_KEYS_OLD",
  "WEBHOOK_PROXY",
] as const;

/**
 * Adds the secrets that are in files, such as the credentials of systemd: other processes of the user, and every program that this
 * process starts, can read its variables. Throws {@link ConfigError}.
 */
export function withSecretFiles(env: Environment): Environment {
  const secrets = SECRET_SETTINGS.flatMap((name) => {
    const path = env[`${name}_FILE`];
    if (!path) return [];
    if (env[name]) throw new ConfigError(`${name} and ${name}_FILE are both set: remove one of them.`);
    return [[name, readSecretFile(`${name}_FILE`, path)]];
  });
  return { ...env, ...Object.fromEntries(secrets) };
}

/** The content of a file without the newline at its end, which editors and `echo` add. */
export function readSecretFile(name: string, path: string): string {
  const text = readTextFile(name, path).replace(/\r?\n$/, "");
  if (text === "") throw new ConfigError(`${name} names an empty file: ${path}.`);
  return text;
}

/** The content of a file that a setting names. Throws {@link ConfigError}, without the path: it may be the secret itself, by mistake. */
export function readTextFile(name: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code = "unknown error" } = error as NodeJS.ErrnoException; // nothing else is thrown by the file system
    throw new ConfigError(`${name} must be the path of a file that can be read (${code}).`);
  }
}

export function oneOf<const T extends string>(
  env: Environment,
  name: string,
  values: readonly T[],
  fallback: T,
): T {
  const value = env[name] || fallback;
  const known = values.find((candidate) => candidate === value);
  if (known === undefined)
    throw new ConfigError(`${name} must be one of ${values.join(", ")}, not "${value}".`);
  return known;
}

/** A TCP port; 0 takes a free one. */
export function port(name: string, text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65535)
    throw new ConfigError(`${name} must be a number from 0 to 65535, not "${text}".`);
  return value;
}

/** Modules of a package are JavaScript; in a clone they are TypeScript. */
export const isPackaged = import.meta.url.endsWith(".js");

/** The operators' command, as messages name it. */
export const ADMIN_COMMAND = isPackaged
  ? "npx --no-install @refund-contract/server admin"
  : "npm run admin --";
