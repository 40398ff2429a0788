/** A server as `server/main.ts` starts it, but with leases so short that a test can wait for their end. */
import { pino } from "pino";
import { readConfig } from "../../../../server/config/config.ts";
import { startServer } from "../../../../server/start.ts";

const server = await startServer(readConfig(process.env), {
  logger: pino({ level: "silent" }),
  webhooks: { leaseMs: 2_000, timeoutMs: 1_500 },
});
process.once("SIGTERM", () => void server.close());
process.stdout.write(`curl ${server.url}/\n`);
