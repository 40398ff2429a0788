import type { components as sandboxComponents } from "../../openapi/generated/sandbox-types.ts";
import type { components } from "../../openapi/generated/types.ts";

/** The schemas of the published contract, by name. */
export type Schemas = components["schemas"];
/** The schemas of the sandbox contract, by name. */
export type SandboxSchemas = sandboxComponents["schemas"];
