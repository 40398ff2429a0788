import express from "express";
import { pino } from "pino";
import { expect, test } from "vitest";
import { CrowdedError, FullError } from "../../../../server/async/bounded-queue.ts";
import { ProblemError, unavailable } from "../../../../server/contract/problem.ts";
import { handleErrors } from "../../../../server/http/error-handler.ts";
import { isRefusedWrite, isUnavailable } from "../../../../server/storage/database/database-errors.ts";
import { serveLocally } from "../../../helpers/network/local-server.ts";

test.each([
  ["503 because of the database doesn't count", Object.assign(new Error(), { code: "25006" }), 503, 1],
  ["503 at its deadline doesn't count", unavailable(new Error("not done in 6000 ms")), 503, 1],
  ["503 because all merchants together have too many doesn't count", new FullError(), 503, 1],
  ["503 because the merchant has too many counts", new CrowdedError(), 503, 0],
  ["404 counts", new ProblemError("PAYMENT_NOT_FOUND"), 404, 0],
  ["500 counts", new Error("a bug"), 500, 0],
])("in the rate limit, a call that gets %s", async (_name, error, status, givenBack) => {
  let tokens = 0;
  const app = express();
  app.use((_request, response) => {
    response.locals.uncount = () => (tokens += 1);
    throw error;
  });
  app.use(handleErrors(pino({ enabled: false }), isUnavailable));
  await using server = await serveLocally(app);

  const response = await fetch(server.url);

  expect([response.status, tokens]).toEqual([status, givenBack]);
});

/** A process without descriptors, and one whose login the database refuses, get no error of their own. */
test.each(["EMFILE", "ENFILE", "28P01", "3D000", "55000"])(
  "the error %s of the system or PostgreSQL makes a server unavailable",
  (code) => {
    expect(isUnavailable(Object.assign(new Error(`connect ${code}`), { code }))).toBe(true);
  },
);

/** A database that is read-only, and one on a full disk. */
test.each(["25006", "53100"])(
  "PostgreSQL's error %s says that the database takes no writes, and that it is unavailable",
  (code) => {
    const error = Object.assign(new Error("refused"), { code });
    expect([isRefusedWrite(error), isUnavailable(error)]).toEqual([true, true]);
  },
);
