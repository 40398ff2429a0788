import { runSpecmatic } from "../proofs/specmatic/specmatic.ts";
import { runConform } from "./command.ts";

await runConform("npm run conform --", { specmatic: runSpecmatic });
