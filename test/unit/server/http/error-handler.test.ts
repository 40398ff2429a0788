import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { pino } from "pino";
import { expect, test } from "vitest";
import { CrowdedError } from "../../../../server/async/room.ts";
import { ProblemError, unavailable } from "../../../../server/contract/problem.ts";
import { handleErrors } from "../../../../server/http/error-handler.ts";
import { isUnavailable } from "../../../../server/storage/database/unavailable.ts";

/** @decision D27 */
test.each([
  [
    "a call that gets 503 because of the database doesn't count",
    Object.assign(new Error(), { code: "25006" }),
    503,
    1,
  ],
  [
    "a call that gets 503 at its deadline doesn't count",
    unavailable(new Error("not done in 6000 ms")),
    503,
    1,
  ],
  ["a call that gets 503 because the merchant has too many counts", new CrowdedError(), 503, 0],
  ["a call that gets 404 counts", new ProblemError("PAYMENT_NOT_FOUND"), 404, 0],
  ["a call that gets 500 counts", new Error("a bug"), 500, 0],
])("%s", async (_name, error, status, givenBack) => {
  let tokens = 0;
  const app = express();
  app.use((_request, response) => {
    response.locals.uncount = () => (tokens += 1);
    throw error;
  });
  app.use(handleErrors(pino({ enabled: false }), isUnavailable));
  const server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");

  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);

  server.close();
  expect([response.status, tokens]).toEqual([status, givenBack]);
});
