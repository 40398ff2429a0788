/**
 * To be imported first by a process: names under `.test` resolve to this machine until the folder `STUCK_LOOKUPS` contains
 * the file `silent`. From then on, each lookup of such a name blocks a thread of the process forever, as with a nameserver
 * that never responds, and the name is written to the file `stuck`.
 */
import dns from "node:dns";
import { appendFileSync, existsSync, open } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";

type Lookup = (hostname: string, options: dns.LookupOptions, callback: (...result: never[]) => void) => void;

const folder = process.env.STUCK_LOOKUPS ?? "";
const lookup = dns.lookup as unknown as Lookup; // only this overload is used

const lookUp: Lookup = (hostname, options, callback) => {
  if (!hostname.endsWith(".test")) return lookup(hostname, options, callback);
  if (!existsSync(join(folder, "silent"))) return lookup("127.0.0.1", options, callback);
  appendFileSync(join(folder, "stuck"), `${hostname}\n`);
  open(join(folder, "pipe"), "r", () => {}); // blocks, because no writer ever opens it
};

Object.assign(dns, { lookup: lookUp });
syncBuiltinESMExports();
