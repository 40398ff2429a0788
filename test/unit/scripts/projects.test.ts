import { globSync } from "node:fs";
import { matchesGlob } from "node:path";
import { expect, test } from "vitest";
import config from "../../../vitest.config.ts";

type Project = { readonly test: { readonly include: readonly string[] } };

test("every test file is in one project of tests", () => {
  const projects = (config.test?.projects ?? []) as readonly Project[];
  const files = globSync("test/**/*.test.ts", { exclude: ["test/proofs/**"] });

  const outside = files.filter(
    (file) =>
      projects.filter(({ test: { include } }) => include.some((glob) => matchesGlob(file, glob))).length !==
      1,
  );

  expect(outside).toEqual([]);
  expect(files.length).toBeGreaterThan(100);
});
