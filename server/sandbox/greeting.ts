import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { isLoopback } from "../http/middleware/request-head.ts";
import { SANDBOX_MERCHANTS } from "./fixtures.ts";

/** Prints the addresses of a sandbox and a refund to try, and warns when others than this machine reach it. */
export function greet(url: string, host: string, logger: Logger): void {
  process.stdout.write(toWelcome(url));
  if (isLoopback(host)) return;
  logger.warn(`The sandbox's access tokens are public knowledge, and HOST=${host} is open to others.`);
}

function toWelcome(url: string): string {
  const [merchant] = SANDBOX_MERCHANTS;
  const body = `{"paymentId":"pay_settled","amount":{"currency":"USD","value":1.00},"requestKey":"${randomUUID()}"}`;
  return `
Sandbox ready.

  API           ${url}/v1
  Console       ${url}/console
  Docs          ${url}/docs
  Contract      ${url}/openapi.json  ${url}/openapi.yaml  (OpenAPI 3.0: ${url}/openapi-3.0.json)
  Health        ${url}/healthz  ${url}/readyz
  Access token  sandbox_${merchant}

Issue a refund:

  curl -s -w '\\n' ${url}/v1/refunds -H 'Authorization: Bearer sandbox_${merchant}' -H 'Content-Type: application/json' -H 'Accept: application/json' -d '${body}'

`;
}
