import type { DomainClock } from "../domain/clock.ts";
import type { Bound } from "../storage/bind.ts";
import type { storage } from "../storage/storage.ts";

/** What the sandbox's calls need. */
export interface SandboxParts {
  store: Bound<typeof storage>;
  clock: DomainClock;
  /** Does what is due at the domain's time now; resolves when all of it has happened. */
  runDue(): Promise<void>;
}
