/**
 * The cluster of `npm run proof -- engines`, on which the tests of the store then run: the addresses of its machines, the coordinator's
 * first.
 */
export function clusterUrls(): readonly string[] {
  return process.env.CLUSTER_URLS?.split(" ") ?? [];
}

export function isClusterRun(): boolean {
  return clusterUrls().length > 0;
}

/** A database on every machine with empty, distributed tables, which tests copy. */
export const CLUSTER_TEMPLATE = "distributed";

/** A database on every machine that knows the other machines, and has no tables. */
export const EMPTY_CLUSTER = "cluster";
