import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { SANDBOX_MERCHANTS, TOMORROW_MERCHANT } from "./features/fixtures.ts";
import { settingName } from "./sandbox-settings.ts";

/** Prints the addresses of a sandbox and a refund to try, and warns when others than this machine reach it. */
export function greet(
  { url, isLocal }: { readonly url: string; readonly isLocal: boolean },
  { host }: Pick<Config, "host">,
  logger: Logger,
  tomorrowSeed: number | undefined,
): void {
  process.stdout.write(toWelcome(url, tomorrowSeed));
  if (isLocal) return;
  logger.warn(
    `The sandbox's access tokens are public knowledge, and ${settingName("HOST")}=${host} is open to others.`,
  );
}

function toWelcome(url: string, tomorrowSeed: number | undefined): string {
  const tomorrow =
    tomorrowSeed === undefined
      ? ""
      : `\n  Tomorrow's API  sandbox_${TOMORROW_MERCHANT}  (again with --seed ${tomorrowSeed})`;
  const [merchant] = SANDBOX_MERCHANTS;
  const body = `{"paymentId":"pay_settled","amount":{"currency":"USD","value":1.00},"requestKey":"${randomUUID()}"}`;
  return `
Sandbox ready.

  API           ${url}/v1
  Console       ${url}/console
  Docs          ${url}/docs
  Contract      ${url}/openapi.json  ${url}/openapi.yaml  (OpenAPI 3.0: ${url}/openapi-3.0.json)
  Health        ${url}/healthz  ${url}/readyz
  Access token  sandbox_${merchant}${tomorrow}

Issue a refund:

  curl -s -w '\\n' ${url}/v1/refunds -H 'Authorization: Bearer sandbox_${merchant}' -H 'Content-Type: application/json' -H 'Accept: application/json' -d '${body}'

`;
}
