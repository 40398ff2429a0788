import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import { CommanderError, type CommandUnknownOpts, Option } from "@commander-js/extra-typings";

/** The run can't begin or continue; the message says what to do about it. The command then exits with 2. */
export class CannotRun extends Error {}

/** The value of an option is wrong. */
export class OptionError extends Error {}

/** How the command line writes the name of an option, such as `--other-token`. */
export function toFlag(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

type Read<Value> = (text: string, name: string, before: Value | undefined) => Value;

/** An option whose value is read by a function, which gets the option's name for its errors. */
export const option = <Flags extends string, Value>(
  flags: Flags,
  description: string,
  read: Read<Value>,
): Option<Flags, undefined, undefined, Value> =>
  new Option(flags, description).argParser<Value>((text, before) =>
    read(text, flags.replace(/ .*/, ""), before),
  );

/**
 * Reads the command line, and prints the help on request.
 *
 * @param name how the command is run, for the error
 * @throws CannotRun when an option is wrong
 */
export function parseOptions(
  command: CommandUnknownOpts,
  args: readonly string[],
  name: string,
): "help" | undefined {
  command.exitOverride().configureOutput({ writeErr: () => {} });
  try {
    command.parse(args, { from: "user" });
    return undefined;
  } catch (error) {
    if (error instanceof OptionError) throw usageError(error.message, name);
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return "help";
    throw new CannotRun(`${error.message}\n\n${command.helpInformation().trimEnd()}`);
  }
}

export function usageError(message: string, name: string): CannotRun {
  return new CannotRun(`${message}\n${name} --help shows how it is used.`);
}

export function readUrl(text: string, option: string): string {
  const url = readAddress(text, option);
  if (url.search || url.hash) throw new OptionError(`${option} must end with its host or path.`);
  return url.href.replace(/\/+$/, "");
}

/** An address of http or https, which may have a query. */
export function readAddress(text: string, option: string): URL {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  if (!url) throw new OptionError(`${option} must be an address such as https://payments.example.com.`);
  if (url.username || url.password)
    throw new OptionError(`${option} must not contain a user name or password.`);
  return url;
}

/** A file to write at the end; what could not be written then is refused now, before minutes of checks. */
export function readReportFile(text: string, option: string): string {
  try {
    if (statSync(text, { throwIfNoEntry: false })?.isDirectory()) throw new Error("it is a folder");
    accessSync(dirname(text), constants.W_OK);
    return text;
  } catch (error) {
    throw new OptionError(
      `${option} must be a file that can be written, not "${text}": ${(error as Error).message}.`,
    );
  }
}

/** Prefixes of check ids, separated by commas. */
export function readIds(text: string, _option: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...text.split(",").filter((id) => id !== "")];
}

/** The same, where `all` means every check. */
export function readRequired(
  text: string,
  _option: string,
  before: readonly string[] = [],
): readonly string[] {
  return [...before, ...text.split(",").map((id) => (id === "all" ? "" : id))];
}

type Range = { readonly from: number; readonly to: number; readonly fractions?: boolean };

export function numberIn({ from, to, fractions = false }: Range) {
  return (text: string, option: string): number => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if ((fractions || Number.isInteger(value)) && value >= from && value <= to) return value;
    throw new OptionError(`${option} must be a number from ${from} to ${to}, not "${text}".`);
  };
}

/** A time limit in seconds. */
export const readSeconds: ReturnType<typeof numberIn> = numberIn({ from: 0.05, to: 600, fractions: true });
