// A program of ENCRYPTION_KEY_COMMAND, as an operator would write one around a KMS: node kms-program.ts FOLDER wrap|unwrap
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const [, , folder = "", operation = ""] = process.argv;
appendFileSync(join(folder, "operations"), `${operation}\n`);
if (!existsSync(join(folder, "key"))) {
  process.stderr.write("the KMS is away\n");
  process.exit(3);
}
if (process.env.ENCRYPTION_KEY || process.env.PGPASSWORD) throw new Error("it must not see other secrets");
const key = readFileSync(join(folder, "key"));
const line = (await text(process.stdin)).trimEnd();
process.stdout.write(`${operation === "wrap" ? wrap(line) : unwrap(line)}\n`);

function wrap(plaintext: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("chacha20-poly1305", key, nonce, { authTagLength: 16 });
  const parts = [cipher.update(plaintext), cipher.final(), cipher.getAuthTag()];
  return ["test-kms", ...[nonce, Buffer.concat(parts)].map((bytes) => bytes.toString("base64"))].join(":");
}

function unwrap(wrapped: string): string {
  const [nonce, bytes] = wrapped
    .split(":")
    .slice(1)
    .map((part) => Buffer.from(part, "base64"));
  if (!nonce || !bytes) throw new Error("not wrapped by this program");
  const decipher = createDecipheriv("chacha20-poly1305", key, nonce, { authTagLength: 16 });
  decipher.setAuthTag(bytes.subarray(-16));
  return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString();
}
