import type { Rotation } from "../storage/rotate-secrets.ts";
import { count, type Output, startProgress } from "./output.ts";

const DONE = "Once no server encrypts with an older key any more, ENCRYPTION_KEYS_OLD can go.";

/**
 * Encrypts all secrets with the first key.
 *
 * @returns whether every secret could be read
 */
export async function rotateKey(
  rotate: (onBatch: (rotation: Rotation) => void) => Promise<Rotation>,
  output: Output,
): Promise<boolean> {
  let seen = 0;
  const progress = startProgress(output, () => count(seen, "secret"));
  try {
    const {
      rotated,
      unreadable,
      seen: all,
    } = await rotate((rotation) => {
      seen = rotation.seen;
    });
    const current = all - rotated - unreadable.length;
    output.print(`${count(all, "secret")}: ${rotated} encrypted anew, ${current} were current`);
    for (const subscriptionKey of unreadable)
      output.print(`${subscriptionKey}: none of the keys opens its secret`);
    if (unreadable.length === 0) output.print(DONE);
    else output.complain("Add the keys that encrypted these to ENCRYPTION_KEYS_OLD, and run it again.");
    return unreadable.length === 0;
  } finally {
    progress.stop();
  }
}
