import { beforeAll, beforeEach, onTestFinished } from "vitest";
import { createTempDir } from "./temp-dir.ts";

/**
 * Opens a resource before the tests of a suite, and disposes of it after them if it is disposable. The returned object has the
 * members of the resource while tests and later hooks run; reading one earlier throws.
 */
export function forSuite<Resource extends object>(open: () => Promise<Resource>): Resource {
  return standInFor(beforeAll, open);
}

/** As `forSuite`, with a new resource for each test. */
export function forEachTest<Resource extends object>(open: () => Promise<Resource>): Resource {
  return standInFor(beforeEach, open);
}

/** A new folder that is removed at the end of the test. */
export async function folderOfTest(): Promise<string> {
  const { path, [Symbol.asyncDispose]: remove } = await createTempDir();
  onTestFinished(remove);
  return path;
}

function standInFor<Resource extends object>(
  before: (hook: () => Promise<() => Promise<void>>) => void,
  open: () => Promise<Resource>,
): Resource {
  let current: (Resource & Partial<AsyncDisposable>) | undefined;
  before(async () => {
    const opened: typeof current = await open();
    current = opened;
    return async () => opened[Symbol.asyncDispose]?.();
  });
  const get = (_: Resource, name: PropertyKey): unknown => {
    if (!current) throw new Error(`${String(name)} was read before the tests ran`);
    return Reflect.get(current, name);
  };
  return new Proxy<Resource>({} as Resource, { get });
}
