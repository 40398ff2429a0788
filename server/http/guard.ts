import type { RequestHandler } from "express";
import type { Logger } from "pino";
import type { FindCheck } from "./answer-check.ts";
import { holdBack } from "./hold-back.ts";
import { sendProblem } from "./reply.ts";

/** What tells of the answer that is held back, and not of the one that is sent for it. */
const OF_THE_ANSWER = /^(content-|transfer-encoding|location|retry-after|www-authenticate|allow|trailer)/;

/**
 * Lets no answer of an operation out that the contract does not allow: it is logged as a defect of the server, and the
 * caller gets `INTERNAL_ERROR` in its place. It looks at what is about to go over the wire, whoever sends it and how.
 */
export function guardAnswers(findChecks: readonly FindCheck[], logger: Logger): RequestHandler {
  return (request, response, next) => {
    const check = findCheck(findChecks, request.method, request.path);
    if (!check) return next();
    holdBack(response, (answer) => {
      const faults = check(answer);
      if (faults.length === 0) return true;
      const { requestId } = response.locals;
      logger.error(
        { requestId, status: answer.status, faults },
        "held back an answer that is not as documented",
      );
      for (const name of response.getHeaderNames()) if (OF_THE_ANSWER.test(name)) response.removeHeader(name);
      sendProblem(request, response, { code: "INTERNAL_ERROR" });
      return false;
    });
    next();
  };
}

function findCheck(findChecks: readonly FindCheck[], method: string, path: string) {
  for (const find of findChecks) {
    const check = find(method, path);
    if (check) return check;
  }
  return undefined;
}
