import { toSigningKey } from "./sign-delivery.ts";

/**
 * Estimates whether a person could guess a secret: too short, made of words, or of characters that repeat or count up. It may
 * be wrong in both directions, so it is the reason for a warning and not for a refusal.
 */
export function isGuessable(secretKey: string): boolean {
  const key = toPeriod(Buffer.from(toSigningKey(secretKey)).toString("latin1"));
  const others = key.replaceAll(WORD, "");
  // Random letters look like a word here and there.
  const isOfWords = others.length * 2 < key.length;
  const words = isOfWords ? (key.match(WORD)?.length ?? 0) : 0;
  const rest = withoutSteps(isOfWords ? others : key);
  const alphabet = ALPHABETS.reduce((sum, [kind, size]) => sum + (kind.test(rest) ? size : 0), 1);
  return words * WORD_BITS + rest.length * Math.log2(alphabet) < LEAST_BITS;
}

/** What to do about a secret that a person could guess; it is accepted all the same. */
export const GUESSABLE_SECRET =
  "The secretKey looks as if a person could guess it. Make a random one, for example whsec_ and the output of: openssl rand -base64 32";

/** The least strength of a key that NIST accepts (SP 800-131A), in bits. */
const LEAST_BITS = 112;
/** The bits of a word that is drawn from a list of four thousand. */
const WORD_BITS = 12;
/** Letters that may be a word, with the separator before it. */
const WORD = /[^A-Za-z0-9]?(?:[A-Za-z][a-z]{4,11}|[A-Z]{5,12})/g;

/** How many characters of each kind there are to choose from. */
const ALPHABETS: readonly (readonly [RegExp, number])[] = [
  [/[a-z]/, 26],
  [/[A-Z]/, 26],
  [/[0-9]/, 10],
  [/[!-/:-@[-`{-~ ]/, 33],
  [/[^ -~]/, 161],
];

/** The text that was repeated: `abc` for `abcabc`. */
function toPeriod(text: string): string {
  return text.slice(0, (text + text).indexOf(text, 1));
}

/** Leaves out characters that repeat the one before, or continue to count up or down. */
function withoutSteps(text: string): string {
  const step = (index: number) => text.charCodeAt(index) - text.charCodeAt(index - 1);
  return [...text]
    .filter(
      (_, index) => !(step(index) === 0 || (Math.abs(step(index)) === 1 && step(index) === step(index - 1))),
    )
    .join("");
}
