/** Runs the checks of a proof one after the other, and prints which failed. */
import { secondsSince } from "../../scripts/shared/define-command.ts";

const start = performance.now();
const counted = { passed: 0, failed: 0 };

/**
 * Runs a check of a proof, and prints its result. One that fails does not end the proof, because later ones may fail for other reasons.
 * @returns what the work has found, of which a text is printed; undefined when it failed
 */
export async function check<Found>(name: string, work: () => Promise<Found>): Promise<Found | undefined> {
  const startedAt = performance.now();
  try {
    const found = await work();
    counted.passed += 1;
    console.log(`✓ ${name}${typeof found === "string" ? `: ${found}` : ""} (${secondsSince(startedAt)})`);
    return found;
  } catch (error) {
    counted.failed += 1;
    console.log(`✗ ${name} (${secondsSince(startedAt)}): ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

/** Prints how many checks have passed, and fails this process if one has not; returns whether all have. */
export function endChecks(): boolean {
  console.log(`${counted.passed} passed, ${counted.failed} failed (${secondsSince(start)})`);
  if (counted.failed > 0) process.exitCode = 1;
  return counted.failed === 0;
}

export function expectSame(what: string, actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new Error(`${what} is ${actual}, not ${expected}`);
}
