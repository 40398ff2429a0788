import ipaddr from "ipaddr.js";

/** Which targets besides public `https` ones a server delivers to (D24). */
export interface TargetPolicy {
  /** The sandbox: `http`, and this machine itself. */
  allowLocal: boolean;
  /** `WEBHOOK_ALLOW_PRIVATE`: private networks; never link-local or metadata addresses. */
  allowPrivate: boolean;
}

const PRIVATE_RANGES = ["private", "uniqueLocal", "carrierGradeNat"];

/** All public IPv6 addresses lie in 2000::/3; the library counts what nobody has assigned as public as well. */
const PUBLIC_IPV6 = ipaddr.parseCIDR("2000::/3");

/** Addresses outside the link-local range at which cloud machines find their own credentials and settings. */
const METADATA_ADDRESSES = ["100.100.100.200", "168.63.129.16", "fd00:ec2::254", "fd20:ce::254"];

/** Says what is wrong with the form of a delivery URL, or with an address written out in it; names are looked up at connect. */
export function findTargetFault(text: string, policy: TargetPolicy): string | undefined {
  const url = URL.parse(text);
  if (!url) return "must be a URL, such as https://merchant.example.com/webhooks";
  if (url.protocol !== "https:" && !(policy.allowLocal && url.protocol === "http:")) {
    return policy.allowLocal ? "must begin with https:// or http://" : "must begin with https://";
  }
  if (url.username !== "" || url.password !== "") return "must not hold a user name or password";
  if (url.port === "0") return "must not name port 0";
  return findHostFault(url.hostname, policy);
}

function findHostFault(hostname: string, policy: TargetPolicy): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (host === "localhost" || host.endsWith(".localhost")) {
    return policy.allowLocal ? undefined : `must have a public host; ${host} is this machine itself`;
  }
  if (!ipaddr.isValid(host) || isAllowedAddress(host, policy)) return undefined;
  return `must have a public host; ${host} is not a public address`;
}

/** Whether an IP address may be connected to. IPv4 addresses written as IPv6 count as what they are. */
export function isAllowedAddress(address: string, policy: TargetPolicy): boolean {
  const parsed = ipaddr.process(address);
  if (METADATA_ADDRESSES.includes(parsed.toString())) return false;
  const range = parsed.range();
  if (range === "unicast") return parsed.kind() === "ipv4" || parsed.match(PUBLIC_IPV6);
  if (range === "loopback") return policy.allowLocal;
  return policy.allowPrivate && PRIVATE_RANGES.includes(range);
}
