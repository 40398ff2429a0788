import { runAdminProcess } from "./run-process.ts";

await runAdminProcess(process.argv.slice(2));
