import { runConform } from "../test/conformance/command.ts";
import { runSpecmatic } from "../test/lib/testers/specmatic.ts";

await runConform("npm run conform --", { specmatic: runSpecmatic });
