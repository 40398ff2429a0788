import type { Store } from "../database/tables.ts";

export async function installFunctions(_store: Store): Promise<void> {}
