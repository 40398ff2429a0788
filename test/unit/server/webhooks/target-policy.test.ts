import { describe, expect, test } from "vitest";
import {
  findTargetError,
  isAllowedAddress,
  type TargetPolicy,
} from "../../../../server/webhooks/target-policy.ts";

const PRODUCTION: TargetPolicy = { allowLocal: false, allowPrivate: false };
const SANDBOX: TargetPolicy = { allowLocal: true, allowPrivate: false };
const SANDBOX_WITH_PRIVATE: TargetPolicy = { allowLocal: true, allowPrivate: true };

/** This machine itself, in all notations. */
const LOOPBACK = [
  ...["localhost", "LOCALHOST", "localhost.", "api.localhost", "127.0.0.1", "127.0.0.1.", "127.255.255.254"],
  ...["127.1", "127.0.1", "2130706433", "0x7f.1", "0x7f000001", "017700000001", "0177.0.0.1", "%31%32%37.1"],
  ...["[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"],
];

/** Private networks. */
const PRIVATE = [
  ...["10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "100.64.0.1", "0xa.1"],
  ...["167772161", "[fd00::1]", "[fc00::1]", "[::ffff:10.0.0.1]", "[::ffff:c0a8:1]"],
];

/** Addresses that are never allowed for webhooks, whatever the settings. */
const NEVER = [
  ...["169.254.169.254", "169.254.0.1", "[fe80::1]", "100.100.100.200", "168.63.129.16", "[fd00:ec2::254]"],
  ...["[fd20:ce::254]", "0.0.0.0", "0", "[::]", "255.255.255.255", "224.0.0.1", "239.255.255.255"],
  ...["[ff02::1]", "240.0.0.1", "198.18.0.1", "198.19.255.255", "192.0.2.1", "198.51.100.1", "203.0.113.1"],
  ...["192.0.0.8", "[2001:db8::1]", "[::ffff:169.254.169.254]", "[::127.0.0.1]", "[::7f00:1]", "[fec0::1]"],
  ...["[4000::1]", "[64:ff9b::7f00:1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]"],
  ...["[2002:a9fe:a9fe::1]", "[2001::1]", "[2001:0:7f00:1::]"],
];

const PUBLIC = [
  ...["merchant.example.com", "8.8.8.8", "172.32.0.1", "100.128.0.1"],
  ...["[2606:4700::1111]", "[::ffff:8.8.8.8]"],
];

const WITHOUT_USER = "must not contain a user name or password; remove what ends with @";
const WITHOUT_EMPTY_PART = "must not contain an empty part in its host name; remove the extra dot";
const NO_URL =
  "must be a URL whose host and port (1 to 65535) can exist, such as https://merchant.example.com/webhooks";

describe("a webhook target", () => {
  const hosts = (names: readonly string[], ...allowed: boolean[]) => names.map((host) => ({ host, allowed }));
  test.each([
    ...hosts(PUBLIC, true, true, true),
    ...hosts(LOOPBACK, false, true, true),
    ...hosts(PRIVATE, false, false, true),
    ...hosts(NEVER, false, false, false),
  ])(
    "at $host, in production, in the sandbox, and there with private networks: $allowed",
    ({ host, allowed }) => {
      const urls = [`https://${host}/hooks`, `http://${host}:8080/hooks`, `https://${host}/hooks`];
      const policies = [PRODUCTION, SANDBOX, SANDBOX_WITH_PRIVATE];
      const errors = policies.map((policy, index) => findTargetError(urls[index] ?? "", policy));

      expect(errors).toEqual(
        allowed.map((is) => (is ? undefined : expect.stringMatching(/^must have a public host; /))),
      );
    },
  );

  test("at a private address is taken over http alone in a sandbox without settings, which the message says", () => {
    const policy: TargetPolicy = { allowLocal: true, allowPrivate: "names and http" };

    expect(findTargetError("http://172.18.0.7/", policy)).toBeUndefined();
    expect(findTargetError("https://172.18.0.7/", policy)).toMatch(/not a public address; with http:/);
    expect(findTargetError("https://169.254.169.254/", policy)).toMatch(/not a public address$/);
    expect(findTargetError("http://10.0.0.1/", SANDBOX)).toMatch(/WEBHOOK_ALLOW_PRIVATE=false/);
    expect(findTargetError("http://0.0.0.0:80/", SANDBOX)).toMatch(/write 127.0.0.1 for this machine/);
    expect(findTargetError("https://10.0.0.1/", PRODUCTION)).toMatch(/not a public address$/);
    expect(isAllowedAddress("172.18.0.7", policy)).toBe(true);
    expect(isAllowedAddress("169.254.169.254", policy)).toBe(false);
  });

  test.each([
    ["http://merchant.example.com/", "must begin with https://"],
    ["ftp://merchant.example.com/", "must begin with https://"],
    ["file:///etc/passwd", "must begin with https://"],
    ["javascript:alert(1)", "must begin with https://"],
    ["data:text/plain,x", "must begin with https://"],
    ["https://user@merchant.example.com/", WITHOUT_USER],
    ["https://:secret@merchant.example.com/", WITHOUT_USER],
    ["https://merchant.example.com@127.0.0.1/", WITHOUT_USER],
    ["https://a..b/", WITHOUT_EMPTY_PART],
    ["https://.merchant.example.com/", WITHOUT_EMPTY_PART],
    ["https://merchant.example.com../", WITHOUT_EMPTY_PART],
    ["https://localhost../", WITHOUT_EMPTY_PART],
    ["https://api..localhost/", WITHOUT_EMPTY_PART],
    ["https://merchant.example.com:0/", "must not name port 0"],
    ["https://", NO_URL],
    ["https://merchant.example.com:99999/", NO_URL],
    ["/webhooks", NO_URL],
    ["https://[::1", NO_URL],
    ["https://256.1.1.1/", NO_URL],
  ])("in production is not %s", (url, error) => {
    expect(findTargetError(url, PRODUCTION)).toBe(error);
  });
});
