import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { defineProof } from "../command/command.ts";
import { ROOT } from "../command/root.ts";
import { findUnpinned, pinImages } from "./image-digests.ts";

const FILES = ["server/operate/Containerfile", "server/operate/compose.yaml"];

const { check } = defineProof("images")
  .option("--check", "only names the images without a digest, and fails if there are any")
  .parse()
  .opts();

const unpinned: string[] = [];
for (const file of FILES) {
  const text = await readFile(join(ROOT, file), "utf8");
  if (!check) await writeFile(join(ROOT, file), await pinImages(text, askRegistry));
  else unpinned.push(...findUnpinned(text).map((image) => `${file}: ${image}`));
}
for (const line of unpinned) console.error(line);
if (unpinned.length > 0) {
  console.error("Pin them where the registry can be reached: npm run proof -- images");
  process.exitCode = 1;
}

/** The digest of the list of all platforms, so that each machine finds its own. */
async function askRegistry(image: string): Promise<string> {
  const args = ["inspect", "--no-tags", "--format", "{{.Digest}}", `docker://${image}`];
  const { stdout } = await promisify(execFile)("skopeo", args);
  return stdout.trim();
}
