/* Turns values into the texts that the console shows. */

const EASTERN = "America/New_York";
const parts = {
  timeZone: EASTERN,
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
} as const;
const eastern = new Intl.DateTimeFormat("en-GB", parts);
const withYear = new Intl.DateTimeFormat("en-GB", { ...parts, year: "numeric" });
const wallTime = new Intl.DateTimeFormat("sv-SE", {
  timeZone: EASTERN,
  dateStyle: "short",
  timeStyle: "short",
});
const dollars = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });

/** Such as `Wed 25 Nov, 00:00 ET`; with the year if it is not the computer's current year. */
export function toEastern(iso: string): string {
  const time = new Date(iso);
  const format = time.getFullYear() === new Date().getFullYear() ? eastern : withYear;
  return `${format.format(time)} ET`;
}

/** Such as `2026-11-25 05:00:00Z`. */
export const toUtc = (iso: string) => `${iso.slice(0, 19).replace("T", " ")}Z`;

/** The instant of an Eastern wall time such as `2026-11-25T00:00`. */
export function fromEastern(wall: string): string {
  const asUtc = Date.parse(`${wall}:00Z`);
  const aheadMs = (at: number) => Date.parse(`${wallTime.format(at).replace(" ", "T")}:00Z`) - at;
  // The second step corrects the result when the clocks change between the two instants.
  return new Date(asUtc - aheadMs(asUtc - aheadMs(asUtc))).toISOString();
}

export const toDollars = ({ value }: { value: number }) => dollars.format(value);

export const count = (number: number, noun: string, plural = `${noun}s`) =>
  `${number.toLocaleString("en-US")} ${number === 1 ? noun : plural}`;

/** A wait in words, to the second when it is short: `in 4 min 59 s`. */
export function toWait(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1_000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.round(minutes / 60);
  if (seconds <= 0) return "due now";
  if (minutes < 1) return `in ${seconds} s`;
  if (minutes < 60) return `in ${minutes} min ${seconds % 60} s`;
  return hours < 48 ? `in ${hours} h` : `in ${Math.round(hours / 24)} days`;
}

const JSON_TOKEN = /\s*("(?:[^"\\]|\\.)*"|[{[]\s*[\]}]|[{}[\],:]|[^\s"{}[\],:]+)\s*/g;

/** The deepest indentation: more would fill the memory when a body is nested thousands deep. */
const MAX_INDENT = 32;

/** JSON with line breaks, and otherwise as it is written: `10.000` stays so. Any other text as it is. */
export function pretty(text: string | null): string {
  if (text === null) return "(none)";
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  let depth = 0;
  const line = () => `\n${"  ".repeat(Math.min(depth, MAX_INDENT))}`;
  return text.replaceAll(JSON_TOKEN, (_, token: string) => {
    if (token === ":") return ": ";
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    else return token === "," ? `,${line()}` : token;
    return "{[".includes(token) ? token + line() : line() + token;
  });
}

/** Quotes a string as one word for a shell. */
export const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
