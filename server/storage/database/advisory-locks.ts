/**
 * The first numbers of advisory locks; the second is 0. Any role can lock a number, so they are only for what creates tables and
 * functions, when there is nothing else to lock yet; a server waits for none of them where these exist.
 */
export const ADVISORY_LOCKS = {
  /** One process at a time migrates or distributes the tables. */
  migration: 9,
  /** One process at a time installs the functions for distributed tables. */
  functions: 18,
  /** One command at a time creates the record of what operators did. */
  record: 79,
} as const;
