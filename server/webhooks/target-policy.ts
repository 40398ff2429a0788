import type { LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Describes why nothing is sent to a URL: its scheme, its port or a literal address in it; undefined when deliveries may go
 * there. The contract's pattern says how a merchant may write one, and names are resolved and checked at each connect.
 */
export function findTargetError(text: string, policy: TargetPolicy): string | undefined {
  const url = URL.parse(text);
  if (!url)
    return "must be a URL whose host and port (1 to 65535) can exist, such as https://merchant.example.com/webhooks";
  if (url.protocol !== "https:" && !(policy.allowLocal && url.protocol === "http:"))
    return policy.allowLocal ? "must begin with https:// or http://" : "must begin with https://";
  if (url.username !== "" || url.password !== "")
    return "must not contain a user name or password; remove what ends with @";
  if (url.port === "0") return "must not name port 0";
  // An https address is checked as in production, so that a merchant's mistake shows.
  const isAsInProduction = policy.allowPrivate === "names and http" && url.protocol === "https:";
  const error = findHostError(url.hostname, isAsInProduction ? { ...policy, allowPrivate: false } : policy);
  const isPrivate = error && !findHostError(url.hostname, { ...policy, allowPrivate: true });
  if (!isPrivate || !policy.allowLocal) return error;
  return `${error}${policy.allowPrivate ? "; with http:// the sandbox delivers there" : FORBIDDEN_BY_SETTING}`;
}

/** The targets to which a server delivers, besides public `https` ones (D24). */
export type TargetPolicy = {
  /** The sandbox: `http`, and this machine itself. */
  allowLocal: boolean;
  /** `WEBHOOK_ALLOW_PRIVATE`: private networks, all of them or only by names and `http`; never link-local or metadata addresses. */
  allowPrivate: boolean | "names and http";
};

const PRIVATE_RANGES = ["private", "uniqueLocal", "carrierGradeNat"];

/** All public IPv6 addresses lie in 2000::/3; the library also counts unassigned ones as public. */
const PUBLIC_IPV6 = ipaddr.parseCIDR("2000::/3");

/** Addresses, not link-local, from which machines of a cloud read their own credentials and settings. */
const METADATA_ADDRESSES = ["100.100.100.200", "168.63.129.16", "fd00:ec2::254", "fd20:ce::254"];

/** Only a sandbox can be set to allow private addresses. */
const FORBIDDEN_BY_SETTING = "; WEBHOOK_ALLOW_PRIVATE=false forbids private ones";

function findHostError(hostname: string, policy: TargetPolicy): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (host.split(".").includes(""))
    return "must not contain an empty part in its host name; remove the extra dot";
  if (host === "localhost" || host.endsWith(".localhost"))
    return policy.allowLocal ? undefined : `must have a public host; ${host} is this machine itself`;
  if (!ipaddr.isValid(host) || isAllowedAddress(host, policy)) return undefined;
  const hint =
    policy.allowLocal && /^(0\.0\.0\.0|::)$/.test(host) ? "; write 127.0.0.1 for this machine" : "";
  return `must have a public host; ${host} is not a public address${hint}`;
}

/** Whether deliveries may go to an IP address. An IPv4 address written as IPv6 is treated as IPv4. */
export function isAllowedAddress(address: string, policy: TargetPolicy): boolean {
  const parsed = ipaddr.process(address);
  if (METADATA_ADDRESSES.includes(parsed.toString())) return false;
  const range = parsed.range();
  if (range === "unicast") return parsed.kind() === "ipv4" || parsed.match(PUBLIC_IPV6);
  if (range === "loopback") return policy.allowLocal;
  return policy.allowPrivate !== false && PRIVATE_RANGES.includes(range);
}

/** Resolves a name to all its addresses. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** A host name resolves to an address to which webhooks are not sent (D24). */
export class ForbiddenAddressError extends Error {}

/**
 * Resolves the host of one connection, a name or an address, to addresses that were checked. A name with a single forbidden
 * address is rejected as a whole, because it depends on chance which of its addresses is used.
 * @throws ForbiddenAddressError
 */
export async function vetHost(host: string, resolve: Resolve, policy: TargetPolicy): Promise<Addresses> {
  const literal = host.replace(/^\[|\]$/g, "");
  const family = isIP(literal);
  return vetAddresses(family === 0 ? await resolve(host) : [{ address: literal, family }], policy);
}

/**
 * A lookup that returns only addresses that were checked. The connection is made to one of them without a further lookup, so a name
 * can't change its address between the check and the connect.
 */
export function createVettedLookup(vet: (hostname: string) => Promise<Addresses>): LookupFunction {
  return (hostname, options, callback) => {
    vet(hostname).then(
      (addresses) => {
        if (options.all) callback(null, [...addresses]);
        else callback(null, addresses[0].address, addresses[0].family);
      },
      (error) => callback(error, "", 0),
    );
  };
}

type Addresses = readonly [LookupAddress, ...LookupAddress[]];

/** @throws ForbiddenAddressError */
function vetAddresses([first, ...others]: readonly LookupAddress[], policy: TargetPolicy): Addresses {
  if (!first) throw new ForbiddenAddressError("the host has no address");
  const addresses = [first, ...others] as const;
  const isAllowed = addresses.every(
    ({ address }) => isIP(address) !== 0 && isAllowedAddress(address, policy),
  );
  if (isAllowed) return addresses;
  const hint = policy.allowLocal && !policy.allowPrivate ? FORBIDDEN_BY_SETTING : "";
  throw new ForbiddenAddressError(`the host has an address that is not public${hint}`);
}
