import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/*
 * Where a server's processor time goes: the samples of Node's profiler, each counted for the innermost function on its stack that
 * belongs to a part.
 */

/** Names of parts, and the files of their functions. */
export type Parts = readonly (readonly [part: string, source: RegExp])[];

type Node = { id: number; callFrame: { functionName: string; url: string }; children?: number[] };
type Profile = { startTime: number; nodes: Node[]; samples: number[]; timeDeltas: number[] };

/** Has Node write a profile to a folder when the process ends. */
export const profileTo = (folder: string) => ({ NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder}` });

/** A time on the clock of profiles. */
export const profileTime = (): number => Number(process.hrtime.bigint() / 1_000n);

/**
 * Lists parts with their microseconds, the largest first. Reads the one profile in a folder.
 *
 * @param microseconds of the processor for each unit of work, among which the busy time from one time to the other is shared out
 * @param rest the name of what belongs to no part
 */
export async function listParts(
  folder: string,
  parts: Parts,
  options: { from: number; to: number; microseconds: number; rest?: string },
): Promise<string> {
  const { from, to, microseconds, rest = "the rest" } = options;
  const [file = ""] = (await readdir(folder)).filter((name) => name.endsWith(".cpuprofile"));
  const profile: Profile = JSON.parse(await readFile(join(folder, file), "utf8"));
  const parents = new Map<number, Node>();
  for (const node of profile.nodes) for (const child of node.children ?? []) parents.set(child, node);
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const partOf = (leaf: Node | undefined): string => {
    if (leaf?.callFrame.functionName === "(garbage collector)") return "garbage collection";
    for (let node = leaf; node; node = parents.get(node.id)) {
      const found = parts.find(([, source]) => source.test(node?.callFrame.url ?? ""));
      if (found) return found[0];
    }
    return rest;
  };
  const times = new Map<string, number>();
  let at = profile.startTime;
  let busy = 0;
  for (const [index, id] of profile.samples.entries()) {
    const took = profile.timeDeltas[index] ?? 0;
    at += took;
    const node = nodes.get(id);
    if (at < from || at > to || node?.callFrame.functionName === "(idle)") continue;
    busy += took;
    times.set(partOf(node), (times.get(partOf(node)) ?? 0) + took);
  }
  const largest = [...times].toSorted(([, one], [, other]) => other - one);
  return listTimes(largest.map(([part, took]) => [part, (took / busy) * microseconds]));
}

export function listTimes(times: readonly (readonly [name: string, microseconds: number])[]): string {
  return times.map(([name, us]) => `${name} ${us.toFixed(0)}`).join(", ");
}
