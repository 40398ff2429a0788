import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { useTestServer } from "../../helpers/server.ts";

const readme = await readFile(new URL("../../../README.md", import.meta.url), "utf8");

/** Each command of the README with the response printed below it. */
const session = [...readme.matchAll(/```sh\n([\s\S]*?)```\n\n```json\n([\s\S]*?)```/g)].map(
  ([, command, response]) => ({
    command: String(command),
    response: JSON.parse(String(response)),
  }),
);

/** Values that differ between runs: ids, instants and the cursor. */
function masked(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replaceAll(/"rfd_[0-9a-f-]{36}"/g, '"rfd_…"')
    .replaceAll(/urn:uuid:[0-9a-f-]{36}/g, "urn:uuid:…")
    .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"…"')
    .replaceAll(/"nextCursor":"[\w-]+"/g, '"nextCursor":"…"');
  return JSON.parse(text);
}

describe("the session in the README", () => {
  const server = useTestServer();

  test("gives the responses that are printed in it, command by command", async () => {
    expect(session).toHaveLength(4);
    for (const { command, response } of session) {
      const here = command.replace("localhost:3000", server.url.replace("http://", ""));
      const { stdout } = await promisify(execFile)("sh", ["-c", here]);
      expect(masked(JSON.parse(stdout))).toEqual(masked(response));
    }
  });
});
