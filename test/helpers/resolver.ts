import type { LookupAddress } from "node:dns";
import type { Resolve } from "../../server/webhooks/lookup.ts";

/**
 * Names and their addresses as a test wants them. Nothing is asked of the network, so no test reaches another machine by
 * accident.
 */
export function createResolver(names: Readonly<Record<string, readonly string[]>> = {}): Resolve {
  const known: Readonly<Record<string, readonly string[]>> = { localhost: ["127.0.0.1"], ...names };
  return (hostname, _options, callback) => {
    const addresses = known[hostname];
    if (addresses) callback(null, addresses.map(toAddress));
    else callback(Object.assign(new Error(`no address of ${hostname}`), { code: "ENOTFOUND" }), []);
  };
}

function toAddress(address: string): LookupAddress {
  return { address, family: address.includes(":") ? 6 : 4 };
}
