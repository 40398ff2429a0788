import { beforeAll, beforeEach } from "vitest";

type Close<Resource> = (resource: Resource) => unknown;

/**
 * Opens a resource before the tests of a suite and closes it after them. The returned object has the members of the resource
 * while tests and later hooks run; reading one earlier throws.
 */
export function forSuite<Resource extends object>(
  open: () => Promise<Resource>,
  close: Close<Resource> = () => {},
): Resource {
  return standInFor(beforeAll, open, close);
}

/** As `forSuite`, with a new resource for each test. */
export function forEachTest<Resource extends object>(
  open: () => Promise<Resource>,
  close: Close<Resource> = () => {},
): Resource {
  return standInFor(beforeEach, open, close);
}

function standInFor<Resource extends object>(
  before: (hook: () => Promise<() => Promise<void>>) => void,
  open: () => Promise<Resource>,
  close: Close<Resource>,
): Resource {
  let current: Resource | undefined;
  before(async () => {
    const opened = await open();
    current = opened;
    return async () => void (await close(opened));
  });
  const get = (_: Resource, name: PropertyKey): unknown => {
    if (!current) throw new Error(`${String(name)} was read before the tests ran`);
    return Reflect.get(current, name);
  };
  return new Proxy<Resource>({} as Resource, { get });
}
