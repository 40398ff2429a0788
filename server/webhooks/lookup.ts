import type { LookupAddress, LookupOptions } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { isAllowedAddress, type TargetPolicy } from "./target.ts";

/** Resolves a name to all its addresses, as `dns.lookup` does. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** A name leads to an address that webhooks are not sent to (D24). */
export class ForbiddenAddressError extends Error {
  override readonly name = "ForbiddenAddressError";
}

/**
 * The lookup of one connect. The addresses that it gives are the ones vetted and, with no further lookup, the ones
 * connected to: a name can't turn to another address between check and connect. A name with a single forbidden address
 * is refused as a whole, because which one is taken would be chance.
 */
export function createVettedLookup(resolve: Resolve, policy: TargetPolicy): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const fault = error ?? findFault(addresses, policy);
      const [first] = addresses ?? [];
      if (fault || !first) {
        callback(fault ?? new ForbiddenAddressError("the host has no address"), "", 0);
      } else if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

function findFault(addresses: readonly LookupAddress[], policy: TargetPolicy): Error | undefined {
  const allowed = addresses.every(({ address }) => isIP(address) !== 0 && isAllowedAddress(address, policy));
  return allowed ? undefined : new ForbiddenAddressError("the host has an address that is not public");
}
