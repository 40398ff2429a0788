import { globSync } from "node:fs";
import { matchesGlob } from "node:path";
import { expect, test } from "vitest";
import { testProjects } from "../../helpers/test-projects.ts";

test("every test file is in one project of tests", () => {
  const files = globSync("test/**/*.test.ts", { exclude: ["test/proofs/**"] });

  const outside = files.filter(
    (file) =>
      testProjects.filter(({ include }) => include.some((glob) => matchesGlob(file, glob))).length !== 1,
  );

  expect(outside).toEqual([]);
  expect(files.length).toBeGreaterThan(100);
});
