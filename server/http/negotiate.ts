import type { Request, RequestHandler } from "express";
import Negotiator from "negotiator";
import { ProblemError } from "./problem.ts";

/** Answers 406 when `Accept` admits no JSON; an absent one admits everything (D04), and so does one that names nothing. */
export const requireAcceptance: RequestHandler = (request, _response, next) => {
  const { accept = "" } = request.headers;
  if (accept === "application/json") return next(); // what nearly every caller sends
  if (!/[^\s,]/.test(accept)) return next();
  // Two spellings of what is sent: a range that names the charset admits only the second.
  const offered = ["application/json", "application/json; charset=utf-8"];
  if (new Negotiator(request).mediaType(offered) === undefined) throw new ProblemError("NOT_ACCEPTABLE");
  next();
};

/** The media type of a problem: plain JSON only for a caller who names that, and neither the exact one nor a wildcard (D07). */
export function problemMediaType(request: Request): "application/json" | "application/problem+json" {
  const accepted = new Negotiator(request).mediaTypes().map((type) => type.toLowerCase());
  const named = accepted.includes("application/json");
  const exact = accepted.some((type) => ["application/problem+json", "application/*", "*/*"].includes(type));
  return named && !exact ? "application/json" : "application/problem+json";
}
