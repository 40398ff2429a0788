import { expect, test } from "vitest";
import { isLoopback } from "../../../../server/http/request-head.ts";

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
