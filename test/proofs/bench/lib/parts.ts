import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/*
 * Where a server's processor time goes: the samples of Node's profiler, each counted for the innermost function on its stack that
 * belongs to a part.
 */
const PARTS: readonly (readonly [part: string, source: RegExp])[] = [
  ["claim", /server\/(webhooks\/dispatcher|storage\/.*\/claims)\.ts$/],
  ["record", /server\/(async\/batcher|storage\/.*\/attempts)\.ts$/],
  ["sign", /server\/(webhooks\/sign-delivery|storage\/webhooks\/(secrets|wrapping-keys))\.ts$/],
  [
    "send and read the response",
    /\/undici\/|server\/webhooks\/(send|connections|target|tunnel|resolver)\.ts$/,
  ],
  ["database driver", /\/(pg|pg-protocol|pg-pool|kysely|pglite)\/|^wasm:/],
];

type Node = { id: number; callFrame: { functionName: string; url: string }; children?: number[] };
type Profile = { startTime: number; nodes: Node[]; samples: number[]; timeDeltas: number[] };

/** A time on the clock of profiles. */
export const profileTime = (): number => Number(process.hrtime.bigint() / 1_000n);

/**
 * The part of each, from 0 up to 1, of the busy time between two times; reads the one profile in a folder.
 *
 * @param from see {@link profileTime}
 */
export async function readParts(folder: string, from: number, to: number): Promise<Map<string, number>> {
  const [file = ""] = (await readdir(folder)).filter((name) => name.endsWith(".cpuprofile"));
  const profile: Profile = JSON.parse(await readFile(join(folder, file), "utf8"));
  const parents = new Map<number, Node>();
  for (const node of profile.nodes) for (const child of node.children ?? []) parents.set(child, node);
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const partOf = (leaf: Node | undefined): string => {
    if (leaf?.callFrame.functionName === "(garbage collector)") return "garbage collection";
    for (let node = leaf; node; node = parents.get(node.id)) {
      const found = PARTS.find(([, source]) => source.test(node?.callFrame.url ?? ""));
      if (found) return found[0];
    }
    return "the rest";
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
  return new Map([...times].map(([part, took]) => [part, took / busy]));
}
