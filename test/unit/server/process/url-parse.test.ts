import { setImmediate } from "node:timers/promises";
import { parse } from "node:url";
import { expect, test } from "vitest";
import { speedUpUrlParse } from "../../../../server/process/url-parse.ts";

test("after the one call without a warning, Node no longer looks for callers of url.parse to warn of", async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on("warning", note);

  await speedUpUrlParse();
  await setImmediate(); // so that no package is among the callers
  parse("/");
  await setImmediate(); // warnings come later

  process.off("warning", note);
  expect(warnings).toEqual([]);
  expect(process.noDeprecation).toBeUndefined();
});
