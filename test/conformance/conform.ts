import { runConform } from "./command.ts";

await runConform("npm run conform --");
