/**
 * The first numbers of the advisory locks, one for each purpose. The second number is 0, or the hash of what is locked. A number is
 * never reused, because servers of two releases may run side by side.
 */
export const ADVISORY_LOCKS = {
  /** One process at a time migrates or distributes the tables. */
  migration: 9,
  /** One process at a time installs the functions for distributed tables. */
  functions: 18,
  /** One transaction at a time numbers the next event of an account or customer. */
  resourceEvent: 20,
  /** One transaction at a time adds a subscription of a merchant. */
  subscription: 26,
  /** One transaction at a time publishes payouts. */
  payouts: 33,
  /** One server at a time removes old rows. */
  retention: 40,
  /** One command at a time creates the record of what operators did. */
  record: 79,
} as const;
