/** How long the old secret signs beside the new one, in milliseconds, if nothing else is said; and at most. */
export const DEFAULT_OVERLAP_MS = 24 * 3_600_000;
export const MAX_OVERLAP_MS = 30 * 86_400_000;
