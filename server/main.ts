import { defineSandbox, defineServe, settingsOf } from "./process/command-line.ts";
import { runServer } from "./run.ts";

const command =
  process.env.MODE === "production"
    ? defineServe("npm run start:production --", "Starts the server of production on DATABASE_URL.")
    : defineSandbox("npm start --", "Starts a sandbox. Its data stay in .data.");

await runServer({ ...process.env, ...settingsOf(command.parse()) });
