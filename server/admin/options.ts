import { InvalidArgumentError, Option } from "commander";

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 10_000;

/** How many rows a list shows. */
export function limitOption(): Option {
  return new Option("--limit <n>").default(DEFAULT_LIMIT).argParser((text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= 1 && value <= MAX_LIMIT) return value;
    throw new InvalidArgumentError(`It must be a number from 1 to ${MAX_LIMIT}.`);
  });
}

/** A number from 0. */
export function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}
