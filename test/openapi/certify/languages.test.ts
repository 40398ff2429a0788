import { rm } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import { startProgram } from "../../helpers/process.ts";
import { makeTempDir } from "../../helpers/temp-dir.ts";
import { hold, outcomes } from "./exams.ts";
import { SECRET } from "./merchant.ts";

/** Systems in other languages, which need no library: the command that each is run by. */
const SYSTEMS = [["Python", "python3", "test/openapi/certify/system.py"]] as const;

test.each(SYSTEMS)("a system in %s passes the exam", async (_language, command, file) => {
  const folder = await makeTempDir();
  onTestFinished(() => rm(folder, { recursive: true }));
  const env = { SYSTEM_FOLDER: folder, CERTIFY_SECRET: SECRET };
  await using receiver = startProgram([command, file, "serve"], { env });
  const [url] = await receiver.untilPrinted(/http\S+/);
  const system = (what: string) => `SYSTEM_FOLDER='${folder}' ${command} ${file} ${what}`;
  const shared = ["--url", url, "--secret", SECRET, "--state", system("state")];

  const received = outcomes(await hold("receiver", ...shared));
  const called = outcomes(await hold("caller", ...shared, "--run", system("refund")));

  expect(received).toEqual({ failed: [], notRun: ["restart.kept"] });
  expect(called).toEqual({ failed: [], notRun: [] });
});
