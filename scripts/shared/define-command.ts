/** How all commands of this project read their options: `defineCommand("diff", "Compares …").option(…).parse()`. */
import { type Command, InvalidArgumentError } from "@commander-js/extra-typings";
import { defineProgram } from "../../server/process/command-line.ts";
import { PROOFS } from "./proofs.ts";

export { defineProgram };

/** Begins the definition of the command that `npm run <name>` runs. */
export function defineCommand(name: string, description: string): Command {
  return defineProgram(`npm run ${name} --`, description);
}

/** The same for a command that `npm run proof -- <name>` runs. */
export function defineProof(name: keyof typeof PROOFS): Command {
  return defineProgram(`npm run proof -- ${name}`, PROOFS[name].description);
}

/** Makes a parser for the value of an option that is a whole number in a range. */
export function wholeNumber(from: number, to: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= from && value <= to) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${from} to ${to}.`);
  };
}

/** The value of `--seed`: the same seed makes the same random choices again. */
export const seedNumber = wholeNumber(0, 999_999_999);

export function secondsSince(start: number): string {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}
