import { randomInt } from "node:crypto";
import { ConfigError, type Environment } from "../config/environment.ts";

/** A seed has 31 bits, so that it is a positive number in every language. */
const SEEDS = 2 ** 31;

/** The seed that the setting TOMORROW names or has drawn. Throws {@link ConfigError}. */
export function readTomorrowSeed({ TOMORROW: text }: Environment): number | undefined {
  if (!text) return undefined;
  if (text === "drawn") return randomInt(SEEDS);
  if (/^\d{1,10}$/.test(text) && Number(text) < SEEDS) return Number(text);
  throw new ConfigError(`TOMORROW must be a seed from 0 to 2147483647, or "drawn", not "${text}".`);
}
