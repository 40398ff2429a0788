import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new folder under the system's temporary one; whoever makes it removes it. */
export async function makeTempDir(): Promise<string> {
  return mkdtemp(join(tmpdir(), "refund-contract-"));
}
