import { type Check, defineGroup } from "../check.ts";
import { PRECONDITIONS, WITH_TOKEN } from "../preconditions.ts";
import { expected } from "./expected.ts";

/** Paths and methods; a path that does not exist needs no token (D08a). */
const paths = defineGroup("Paths and methods", {}, [
  expected("path.unknown", "responds with 404 to a path that does not exist", ["13.1", "D08", "D15"]),
  expected("path.case", "responds with 404 to a path in another case", ["7.1", "8.1", "D15"]),
  expected("path.trailing-slash", "responds with 404 to a path with a trailing slash", ["7.1", "8.1", "D15"]),
  expected("method.not-allowed", "responds with 405 and Allow: POST to every other method", [
    "7.1",
    "8.1",
    "D08",
  ]),
]);

const access = defineGroup("Access", {}, [
  expected("access.no-token", "responds with 401 and WWW-Authenticate: Bearer to a request without a token", [
    "9.1",
    "9.2",
    "D08",
  ]),
  expected("access.unknown-token", "responds with 401 to an unknown token", ["9.1", "D08"]),
  expected("access.other-scheme", "responds with 401 to another scheme than Bearer", ["9.1", "D18"]),
  {
    ...expected("access.scheme-case", "takes the word Bearer in any case", ["D18"]),
    preconditions: [PRECONDITIONS.token],
  },
  expected("access.scope", "responds with 403 to a token without the scope of the operation", ["D18", "D08"]),
]);

const mediaTypes = defineGroup("Media types", WITH_TOKEN, [
  expected("accept.absent-or-wildcard", "serves requests without Accept, and with a wildcard", [
    "8.2",
    "D04",
  ]),
  expected("accept.no-json", "responds with 406 when Accept rules out JSON", ["7.2", "8.2", "D04"]),
  expected("accept.problem-type", "sends a problem in the media type that Accept asks for", ["D07", "7.2"]),
  expected("content-type.json", "reads application/json in any case and with charset=utf-8", ["7.2", "D15"]),
  expected("content-type.other", "responds with 415 to a body that is not declared as JSON in UTF-8", [
    "7.2",
    "1.5",
    "D15",
  ]),
  expected("content-encoding.any", "responds with 415 to every Content-Encoding", ["D15"]),
]);

/** The body as a whole, before its fields are validated. */
const bodies = defineGroup("Bodies", WITH_TOKEN, [
  expected("body.malformed", "responds with 400 to a body that is not JSON, and to none at all", [
    "1.5",
    "D08",
  ]),
  expected("body.not-an-object", "responds with 400 to JSON that is not an object", ["7.3", "8.3", "1.5"]),
  expected("body.bom", "responds with 400 to a byte order mark", ["D15"]),
  expected("body.utf-8", "responds with 400 to bytes that are not UTF-8", ["D15"]),
  expected("body.duplicate-keys", "responds with 400 to a duplicate key, and points at it", ["D15", "D07"]),
  expected("body.depth", "reads JSON 32 levels deep and no deeper", ["D15", "D07"]),
  expected("body.too-large", "reads a body of 64 KiB and responds with 413 to a larger one", ["D15", "D08"]),
  expected(
    "body.unknown-field",
    "responds with 400 to fields that the contract does not name, and points at each",
    ["D15", "D07"],
  ),
]);

/** Rules for requests to either operation, before their fields are validated. */
export const REQUEST_CHECKS: Check[] = [...paths, ...access, ...mediaTypes, ...bodies];
