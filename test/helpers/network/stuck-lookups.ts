/**
 * For a process that imports it first: names under `.test` are this machine, until the file `silent` is in the folder of
 * `STUCK_LOOKUPS`. From then on each lookup of one holds a thread of the process forever, as it does with a nameserver that
 * never responds, and leaves the name in the file `stuck`.
 */
import dns from "node:dns";
import { appendFileSync, existsSync, open } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";

type Lookup = (hostname: string, options: dns.LookupOptions, callback: (...result: never[]) => void) => void;

const folder = process.env.STUCK_LOOKUPS ?? "";
const lookup = dns.lookup as unknown as Lookup; // of its forms only this one is used

const lookUp: Lookup = (hostname, options, callback) => {
  if (!hostname.endsWith(".test")) return lookup(hostname, options, callback);
  if (!existsSync(join(folder, "silent"))) return lookup("127.0.0.1", options, callback);
  appendFileSync(join(folder, "stuck"), `${hostname}\n`);
  open(join(folder, "pipe"), "r", () => {}); // waits for a writer, which never comes
};

Object.assign(dns, { lookup: lookUp });
syncBuiltinESMExports();
