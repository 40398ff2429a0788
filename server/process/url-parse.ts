import { parse } from "node:url";
import { runInThisContext } from "node:vm";

/** Compiled without the name of a file, so that it belongs to no package. */
const parseOnce = runInThisContext(`(parse, done) => {
  const { noDeprecation } = process;
  process.noDeprecation = true;
  parse("/");
  process.noDeprecation = noDeprecation;
  done();
}`) as (call: typeof parse, done: () => void) => void;

/**
 * Makes the calls of `url.parse` in packages cheap: express-openapi-validator makes one for each request. Until a program itself
 * has called this deprecated function, Node looks through the stack of each call for one outside of packages, to warn of it. So it
 * is called once, without the warning, and from no file: this one may be in a package, too.
 */
export function speedUpUrlParse(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(parseOnce, parse, resolve);
  });
}
