import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { checkLocalHost, isLoopback } from "../../../../server/http/request-head.ts";

test.each([
  ...["127.0.0.1", "127.1.2.3", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"].map(
    (address) => [address, true] as const,
  ),
  ...["0.0.0.0", "::", "192.168.0.1", "::ffff:10.0.0.1", "128.0.0.1"].map(
    (address) => [address, false] as const,
  ),
])("only this machine reaches %s: %s", (address, expected) => {
  expect(isLoopback(address)).toBe(expected);
});

test.each([
  ["Payments.local:3000", true, true],
  ["evil.test", true, false],
  ["evil.test", false, true],
])(
  "a sandbox that listens on payments.local accepts the host %s if it is local (%s): %s",
  (host, local, ok) => {
    const check = checkLocalHost("payments.local", () => local);
    const call = () => check({ headers: { host } } as IncomingMessage);

    if (ok) expect(call).not.toThrow();
    else expect(call).toThrow("this machine only");
  },
);
