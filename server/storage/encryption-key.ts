import { randomBytes } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";

const KEY_BYTES = 32;

/** The key of an embedded sandbox: made once, and kept in its data folder. Call it while the folder is locked. */
export async function keepEncryptionKey(dataDir: string): Promise<Buffer> {
  const path = join(dataDir, "encryption.key");
  const kept = await readKey(path);
  if (kept?.length === KEY_BYTES) return kept;
  if (kept !== undefined && kept.length > 0) {
    throw new Error(
      `${path} is not a key of ${KEY_BYTES} bytes in base64. Put the right one back, or remove DATA_DIR.`,
    );
  }
  const key = randomBytes(KEY_BYTES);
  const file = await open(path, "w", 0o600);
  try {
    await file.writeFile(`${key.toString("base64")}\n`);
    // Before anything is encrypted with it: a secret whose key is lost with a power cut is lost too.
    await file.sync();
  } finally {
    await file.close();
  }
  return key;
}

async function readKey(path: string): Promise<Buffer | undefined> {
  try {
    return Buffer.from(await readFile(path, "utf8"), "base64");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
