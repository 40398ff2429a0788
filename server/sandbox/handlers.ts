import type { SandboxHandlers } from "../http/operations.ts";
import { accessHandlers } from "./access.ts";
import { clockHandlers } from "./clock.ts";
import { notificationHandlers } from "./notifications.ts";
import { paymentHandlers } from "./payments.ts";
import type { SandboxParts } from "./store.ts";

/** Every call of the sandbox contract. */
export function createSandboxHandlers(parts: SandboxParts): SandboxHandlers {
  return {
    ...paymentHandlers(parts),
    ...clockHandlers(parts),
    ...notificationHandlers(parts),
    ...accessHandlers(parts),
  };
}
