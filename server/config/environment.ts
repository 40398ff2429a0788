export type Environment = Readonly<Record<string, string | undefined>>;

/** A setting that is missing, malformed or unsafe; the message names the variable and the remedy. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

/** One of a few known values. */
export function oneOf<const T extends string>(
  env: Environment,
  name: string,
  values: readonly T[],
  fallback: T,
): T {
  const value = env[name] || fallback;
  const known = values.find((candidate) => candidate === value);
  if (known === undefined)
    throw new ConfigError(`${name} must be one of ${values.join(", ")}, not "${value}".`);
  return known;
}

/** A TCP port; 0 takes a free one. */
export function port(name: string, text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65535) {
    throw new ConfigError(`${name} must be a number from 0 to 65535, not "${text}".`);
  }
  return value;
}
