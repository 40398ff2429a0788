/** The member that differs between any two calls: a server that stores one by mistake would refuse the next for that. */
export const UNIQUE_MEMBER = "requestKey";

/** The same body under another key, if it has one. */
export function withKey(body: unknown, key: string): unknown {
  const has = typeof body === "object" && body !== null && UNIQUE_MEMBER in body;
  return has ? { ...body, [UNIQUE_MEMBER]: key } : body;
}
