import { mutate } from "./command.ts";

/** Changes the contract in every small way that matters, and fails when the tests would miss one of the changes. */
process.exitCode = await mutate(process.argv.slice(2), process.stdout);
