import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { findCallerAddress } from "../../../../server/http/caller-address.ts";

const find = (headerName: string | undefined, headers: Record<string, string>, remoteAddress = "10.0.0.1") =>
  findCallerAddress(headerName)({ headers, socket: { remoteAddress } as Socket });

describe("the address of a caller", () => {
  test("is that of the connection, whatever a header says that no setting names", () => {
    const headers = { "x-forwarded-for": "203.0.113.7", forwarded: "for=203.0.113.7" };

    expect(find(undefined, headers)).toBe("10.0.0.1");
    expect(find("true-client-ip", headers)).toBe("10.0.0.1");
    expect(find(undefined, {}, "::ffff:10.0.0.1")).toBe("10.0.0.1");
    expect(find(undefined, {}, "")).toBeNull();
  });

  test.each([
    ["203.0.113.7", "203.0.113.7"],
    ["198.51.100.1,203.0.113.7 ", "203.0.113.7"],
    ["2001:DB8:0:0::7", "2001:db8::7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["203.0.113.7, unknown", "10.0.0.1"],
    ["203.0.113.7,", "10.0.0.1"],
    ["3405803783", "10.0.0.1"],
    ["203.0.113.7\u2028", "203.0.113.7"],
    ["", "10.0.0.1"],
  ])("is the last one in the header that the setting names, if it is one (%j: %s)", (text, expected) => {
    expect(find("x-forwarded-for", { "x-forwarded-for": text })).toBe(expected);
  });
});
