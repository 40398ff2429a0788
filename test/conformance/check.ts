import {
  type Check as AnyCheck,
  type CheckParts as AnyParts,
  defineGroup as define,
} from "../reporting/check.ts";
import type { Kit } from "./kit.ts";
import type { ConformOptions } from "./options.ts";

/** One thing that users of the service rely on. */
export type Check = AnyCheck<ConformOptions, Kit>;
export type CheckParts = AnyParts<ConformOptions, Kit>;

/** Checks of one group. */
export const defineGroup = define<ConformOptions, Kit>;
