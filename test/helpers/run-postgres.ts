/** A process that runs a PostgreSQL server as production has one, prints its address, and ends with its standard input. */
import { startPostgres } from "./postgres.ts";

const postgres = await startPostgres({ durable: true });
// An interrupt from the keyboard reaches this process too; the process that started it stops it in order.
process.on("SIGINT", () => {});
process.stdin.resume().once("end", () => void postgres.stop());
process.stdout.write(`${postgres.urlOf("postgres")}\n`);
