import { execFile } from "node:child_process";
import { createCipheriv, createDecipheriv, createHash, type KeyObject, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import pLimit from "p-limit";
import { ConfigError, SECRET_SETTINGS } from "../../config/environment.ts";
import type { WrappingKeySetting } from "../../config/store-settings.ts";

/** Encrypts the data keys with which secrets are encrypted. It may be held by this process, or by a KMS. */
export type WrappingKey = {
  /** 4 bytes that are stored beside what it has wrapped, and disclose nothing. */
  readonly id: Buffer;
  wrap(dataKey: Buffer): Promise<Buffer>;
  /** Rejects for anything that this key has not wrapped. */
  unwrap(wrapped: Buffer): Promise<Buffer>;
};

export const KEY_BYTES = 32;
const KEY_ID_BYTES = 4;

/** The wrapping key of a setting. */
export function openWrappingKey(setting: WrappingKeySetting): WrappingKey {
  return "command" in setting ? commandKey(setting.command) : ownKey(setting.key);
}

function toId(...parts: (string | Buffer)[]): Buffer {
  const sha256 = createHash("sha256");
  for (const part of parts) sha256.update(part);
  return sha256.digest().subarray(0, KEY_ID_BYTES);
}

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A form of encryption that is the same for data keys and for secrets: nonce (12 bytes), tag (16), ciphertext. */
export function seal(key: Buffer, context: Buffer, plaintext: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(context);
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
}

/** Reverses {@link seal}. Throws when the key or the context is another one, or the bytes were changed. */
export function unseal(key: Buffer | KeyObject, context: Buffer, sealed: Buffer): Buffer {
  const [nonce, rest] = [sealed.subarray(0, NONCE_BYTES), sealed.subarray(NONCE_BYTES)];
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(context);
  decipher.setAuthTag(rest.subarray(0, TAG_BYTES));
  return Buffer.concat([decipher.update(rest.subarray(TAG_BYTES)), decipher.final()]);
}

/** A key of 32 bytes in this process. Its id is derived from it, so it is found wherever it is in the settings. */
export function ownKey(key: Buffer): WrappingKey {
  if (key.length !== KEY_BYTES)
    throw new Error(`an encryption key has ${KEY_BYTES} bytes, not ${key.length}`);
  const id = toId("key id", key);
  return {
    id,
    wrap: async (dataKey) => seal(key, id, dataKey),
    unwrap: async (wrapped) => unseal(key, id, wrapped),
  };
}

/** A program that waits for its KMS would hold up deliveries, which have a lease. */
const COMMAND_TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 16 * 1024;
const MAX_WRAPPED_BYTES = 4 * 1024;
const PROGRAMS_AT_A_TIME = 4;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * A key that a program asks a KMS for. The program gets `wrap` or `unwrap` as its last argument and one line on its standard
 * input, prints one line, and exits with 0: `wrap` turns the data key, in base64, into a text of its own, and `unwrap` reverses
 * that.
 */
function commandKey(command: string): WrappingKey {
  const limit = pLimit(PROGRAMS_AT_A_TIME);
  return {
    // The same for every program, because a program may change, and knows by itself which key of the KMS it has used.
    id: toId("command"),
    async wrap(dataKey) {
      const wrapped = Buffer.from(await limit(() => run(command, "wrap", dataKey.toString("base64"))));
      if (wrapped.length > 0 && wrapped.length <= MAX_WRAPPED_BYTES) return wrapped;
      throw new ConfigError(`ENCRYPTION_KEY_COMMAND printed ${wrapped.length} bytes for "wrap".`);
    },
    async unwrap(wrapped) {
      const text = await limit(() => run(command, "unwrap", wrapped.toString()));
      const dataKey = Buffer.from(text, "base64");
      if (BASE64.test(text) && dataKey.length === KEY_BYTES) return dataKey;
      throw new ConfigError(
        `ENCRYPTION_KEY_COMMAND printed no key of ${KEY_BYTES} bytes in base64 for "unwrap".`,
      );
    },
  };
}

async function run(command: string, operation: "wrap" | "unwrap", line: string): Promise<string> {
  const [program = "", ...args] = command.trim().split(/\s+/);
  const running = promisify(execFile)(program, [...args, operation], {
    timeout: COMMAND_TIMEOUT_MS,
    killSignal: "SIGKILL",
    maxBuffer: MAX_OUTPUT_BYTES,
    env: withoutSecrets(process.env),
  });
  running.child.stdin?.on("error", () => {}); // it may end without reading
  running.child.stdin?.end(`${line}\n`);
  try {
    return (await running).stdout.replace(/\r?\n$/, "");
  } catch (error) {
    const { code, killed, stderr = "" } = error as { code?: unknown; killed?: boolean; stderr?: string };
    const how = killed ? `was stopped after ${COMMAND_TIMEOUT_MS / 1000} s` : `ended with ${code}`;
    const said = stderr.trim().split("\n").at(-1)?.slice(0, 200);
    // Not the error itself, which has the standard output, and so may have a key.
    throw new ConfigError(`ENCRYPTION_KEY_COMMAND ${how} for "${operation}"${said ? `: ${said}` : ""}`);
  }
}

/** What the program may need for its KMS, such as an address and a token. */
function withoutSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const secrets: readonly string[] = [...SECRET_SETTINGS, "PGPASSWORD"]; // which the driver of PostgreSQL reads
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secrets.includes(name)));
}
