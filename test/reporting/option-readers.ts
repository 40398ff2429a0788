/** Reads the values of the kits' options: addresses, secrets, files and ids of checks. */
import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import { InvalidArgumentError, Option } from "@commander-js/extra-typings";

/** The run can't begin or continue; the message says what to do about it. The command then exits with 2. */
export class CannotRun extends Error {
  override readonly name = "CannotRun";
}

/** How the command line writes the name of an option, such as `--other-token`. */
export function toFlag(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Its value may be secret: `read` throws a `CannotRun`, because an error of Commander would repeat the value. */
export const secretOption = <Flags extends string, Value>(
  flags: Flags,
  description: string,
  read: (text: string, name: string) => Value,
): Option<Flags, undefined, undefined, Value> =>
  new Option(flags, description).argParser((text) => read(text, flags.replace(/ .*/, "")));

/** Reads an address as `readAddress` does, and returns it without a slash at its end. */
export function readUrl(text: string, name: string): string {
  const url = readAddress(text, name);
  if (url.search || url.hash) throw new CannotRun(`${name} must end with its host or path.`);
  return url.href.replace(/\/+$/, "");
}

/** An address of http or https, which may have a query. */
export function readAddress(text: string, name: string): URL {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  if (!url) throw new CannotRun(`${name} must be an address such as https://payments.example.com.`);
  if (url.username || url.password) throw new CannotRun(`${name} must not contain a user name or password.`);
  return url;
}

/** A file to write at the end. Refuses one that can't be written now, before minutes of checks. */
export function readReportFile(text: string): string {
  try {
    if (statSync(text, { throwIfNoEntry: false })?.isDirectory()) throw new Error("it is a folder");
    accessSync(dirname(text), constants.W_OK);
    return text;
  } catch (error) {
    throw new InvalidArgumentError(`It must be a file that can be written: ${(error as Error).message}.`);
  }
}

/** Prefixes of check ids, separated by commas. */
export function readIds(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...text.split(",").filter((id) => id !== "")];
}

/** The same, where `all` means every check. */
export function readRequired(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...readIds(text).map((id) => (id === "all" ? "" : id))];
}

export function secondsFrom(least: number, most: number): (text: string) => number {
  return (text) => {
    const seconds = text.trim() === "" ? Number.NaN : Number(text);
    if (seconds >= least && seconds <= most) return seconds;
    throw new InvalidArgumentError(`It must be a number from ${least} to ${most}.`);
  };
}
