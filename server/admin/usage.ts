/** What `npm run admin` can do. */
export const USAGE = `npm run admin -- <command>, on the database that DATABASE_URL names; no server needs to run.

  payments [file]            feed original payments, one JSON object a line, from a file or from standard input
  deliveries                 list deliveries of webhooks, newest first
      --state <state>        exhausted (when left out), retrying, pending, delivered or ended
      --merchant <merchant>  --subscription <subscriptionKey>  --limit <n>  --before <webhookId>  --json
  redeliver <webhookId> …    send deliveries again, whatever their state
  redeliver --exhausted      send again all that is exhausted
      --merchant <merchant>  --subscription <subscriptionKey>
  subscriptions              list live subscriptions, oldest first
      --ended                those that have ended as well
      --merchant <merchant>  --limit <n>  --after <subscriptionKey>
  subscription disable <subscriptionKey>
                             end a subscription, and what waits for it
  rotate-key                 encrypt every secret with ENCRYPTION_KEY that a key of ENCRYPTION_KEYS_OLD has encrypted
  help                       show this

The guides "Going live" and "Runbook" in docs/guides say more. The command exits with 1 when something was refused or failed.
`;

/** A command that is not one; the message says what to change. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
