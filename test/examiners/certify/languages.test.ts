import { expect, test } from "vitest";
import { startSandbox } from "../../../server/sandbox/index.ts";
import { startProgram } from "../../helpers/process.ts";
import { createTempDir } from "../../helpers/temp-dir.ts";
import { holdCaller, holdReceiver, outcomes } from "./exams.ts";
import { SECRET } from "./merchant.ts";

test("a system in Python passes the exam", async () => {
  await using folder = await createTempDir();
  const env = { SYSTEM_FOLDER: folder.path, CERTIFY_SECRET: SECRET };
  await using sandbox = await startSandbox({ settings: { SERVE_DOCS: "false" } });
  await using system = startProgram(["python3", "test/examiners/certify/system.py"], { env });
  const [url] = await system.untilPrinted(/http\S+/);

  const received = outcomes(await holdReceiver(url));
  const called = outcomes(await holdCaller(sandbox, url));

  expect(received).toEqual({ failed: [], notRun: ["restart.kept"] });
  expect(called).toEqual({ failed: [], notRun: [] });
});
