import type { LookupAddress } from "node:dns";
import { UnresolvedNameError } from "../../../server/webhooks/resolver.ts";
import type { Resolve } from "../../../server/webhooks/target.ts";

/** A resolver with the names and addresses of the test. It sends no queries. */
export function resolverOf(names: Readonly<Record<string, readonly string[]>>): Resolve {
  return async (hostname) => {
    const addresses = names[hostname];
    if (!addresses) throw new UnresolvedNameError({ timedOut: false });
    return addresses.map(toAddress);
  };
}

function toAddress(address: string): LookupAddress {
  return { address, family: address.includes(":") ? 6 : 4 };
}
