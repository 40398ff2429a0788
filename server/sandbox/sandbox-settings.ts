import { randomInt } from "node:crypto";
import { ConfigError, type Environment, isPackaged } from "../config/environment.ts";

/** The settings in an environment: those with the prefix, and in a clone those without. Throws {@link ConfigError}. */
export function readOwnEnvironment(env: Environment): Environment {
  const prefixed = Object.entries(env).filter(([name]) => name.startsWith(PREFIX));
  const named = prefixed.map(([name, value]) => [name.slice(PREFIX.length), value] as const);
  const unknown = named.find(([name]) => ![...SETTINGS, ...OF_COMMANDS].includes(name));
  if (unknown)
    throw new ConfigError(`${PREFIX}${unknown[0]} is no setting of the sandbox: ${SETTINGS.join(", ")}.`);
  return { ...(isPackaged ? {} : env), ...Object.fromEntries(named) };
}

/** The prefix of our settings in a merchant's project, where PORT or DATABASE_URL belong to the merchant's own programs. */
const PREFIX = "REFUNDS_SANDBOX_";

const SETTINGS =
  `HOST PORT PROBE_PORT METRICS_PORT MAX_CONNECTIONS STOP_DELAY CALLER_ADDRESS_HEADER DATA_DIR DATABASE_URL
  DATABASE_URL_FILE ENCRYPTION_KEY ENCRYPTION_KEY_FILE ENCRYPTION_KEYS_OLD ENCRYPTION_KEYS_OLD_FILE LOG_LEVEL LOG_FORMAT
  SERVE_DOCS RATE_LIMIT RETENTION_DAYS HIGH_WATER_MARK_FILE TOMORROW WEBHOOK_ALLOW_PRIVATE WEBHOOK_PROXY
  WEBHOOK_PROXY_FILE WEBHOOK_CA_FILE WEBHOOK_CLIENT_CERT_FILE WEBHOOK_CLIENT_KEY_FILE`.split(/\s+/);
/** Settings of other commands, such as `listen`, and of tests that `exec` runs. */
const OF_COMMANDS = ["URL", "TOKEN", "EVENTS", "TOKENS", "SECRET", "BAD_DAY"];

/** How people name a setting: `PORT` in a clone, `REFUNDS_SANDBOX_PORT` for the package. */
export const settingName = (name: string): string => (isPackaged ? PREFIX + name : name);

/** A message of the server, with the settings as the sandbox's own environment names them. */
export function nameSettings(message: string): string {
  return message.replaceAll(new RegExp(`\\b(${SETTINGS.join("|")})\\b`, "g"), settingName);
}

/** A seed has 31 bits, so that it is a positive number in every language. */
const SEEDS = 2 ** 31;

/** The seed that the setting TOMORROW names or has drawn. Throws {@link ConfigError}. */
export function readTomorrowSeed({ TOMORROW: text }: Environment): number | undefined {
  if (!text) return undefined;
  if (text === "drawn") return randomInt(SEEDS);
  if (/^\d{1,10}$/.test(text) && Number(text) < SEEDS) return Number(text);
  throw new ConfigError(`TOMORROW must be a seed from 0 to 2147483647, or "drawn", not "${text}".`);
}
