import { runListen } from "./lib/listen-command.ts";

await runListen("npm run listen --", process.argv.slice(2));
