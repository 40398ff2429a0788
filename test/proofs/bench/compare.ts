/** At least five, so that one disturbed round doesn't change the median. */
const ROUNDS = 5;

type Bounds = { readonly atLeast?: number; readonly atMost?: number };

/**
 * Measures two things in turns, in alternating order, after a warm-up round that begins with theirs and doesn't count. Prints the
 * ratio of ours to theirs first: it is comparable between machines.
 */
export async function compare(
  name: string,
  unit: string,
  sides: Bounds & { ours: () => Promise<number>; theirs: () => Promise<number>; against: string },
): Promise<void> {
  const rounds: (readonly [ours: number, theirs: number])[] = [];
  for (let round = -1; round < ROUNDS; round += 1) {
    const first = round % 2 === 0 ? await sides.ours() : undefined;
    const their = await sides.theirs();
    const result = [first ?? (await sides.ours()), their] as const;
    if (round >= 0) rounds.push(result);
  }
  const ratios = rounds.map(([ours, theirs]) => ours / theirs);
  const ours = spreadOf(rounds.map(([value]) => value));
  const theirs = spreadOf(rounds.map(([, value]) => value));
  const verdict = judge(median(ratios), sides);
  console.log(
    `${verdict}${spreadOf(ratios)} times · ${name}: ${ours} ${unit}, and of ${sides.against} ${theirs}`,
  );
}

/** Prints the median of several measurements. */
export function report(name: string, unit: string, values: readonly number[], bounds: Bounds = {}): void {
  console.log(`${judge(median(values), bounds)}${spreadOf(values)} ${unit} · ${name}`);
}

/** The results of several rounds after a warm-up round. */
export async function repeat<Result>(measure: () => Promise<Result>): Promise<Result[]> {
  await measure();
  const results: Result[] = [];
  for (let round = 0; round < ROUNDS; round += 1) results.push(await measure());
  return results;
}

function judge(value: number, { atLeast, atMost }: Bounds): string {
  if (atLeast === undefined && atMost === undefined) return "  ";
  const isMet = value >= (atLeast ?? value) && value <= (atMost ?? value);
  return `${isMet ? "✓" : "✗"} ${atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`}: `;
}

/** The median with the lowest and the highest value. */
function spreadOf(values: readonly number[]): string {
  return `${round(median(values))} (${round(Math.min(...values))} to ${round(Math.max(...values))})`;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);

/** @param part such as 0.99 */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}

/** More than three digits would be noise on these machines. */
function round(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}
