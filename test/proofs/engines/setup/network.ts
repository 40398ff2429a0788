import { execFileSync, execFile as runFile, spawn } from "node:child_process";
import { chownSync, readFileSync } from "node:fs";
import { chmod, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { vi } from "vitest";
import { hostOf } from "../../../helpers/cluster.ts";
import {
  chooseUser,
  type PostgresOptions,
  type PostgresServer,
  portOf,
  startPostgres,
} from "../../../helpers/postgres.ts";
import { makeTempDir } from "../../../helpers/temp-dir.ts";
import { killProgram, tryConnect } from "../../faults/setup/programs.ts";

const execFile = promisify(runFile);
/** What the files of the guide name: the network, the folder of certificates, the coordinator, the port of PostgreSQL. */
const GUIDE = {
  network: "10.0.0.",
  folder: "/etc/postgresql",
  coordinator: "10.0.0.20",
  port: /port=5432/,
} as const;
const POOLER = { number: 10, port: 6432 };
const COORDINATOR = 20;
const MOST_MACHINES = 6;
/** A public address, which only a certificate and a URL name. */
export const PUBLIC_ADDRESS = "93.184.215.14";
const ROLES = ["postgres", "refunds_migrate", "refunds_serve"] as const;
export type Role = (typeof ROLES)[number];

/** Who may connect to a machine. */
const HBA = `local all postgres peer
hostssl all all ${GUIDE.network}0/24 scram-sha-256
hostssl replication postgres ${GUIDE.network}0/24 scram-sha-256
`;
export const readExample = (name: string) => readFileSync(`docs/operators/${name}`, "utf8");
export const passwordOf = (role: Role) => `secret-of-${role}`;

/** An address of PostgreSQL, or of what stands before it. */
export type Endpoint = { readonly host: string; readonly port: number };
export const endpointOf = (machine: PostgresServer): Endpoint => ({
  host: hostOf(machine),
  port: portOf(machine),
});

/** What this machine lacks where no network can be created. */
export const NETWORK = "ip, or the right to create networks with it,";

/**
 * Machines in a network namespace each, set up by the files of the guide. None trusts another one: without TLS and a password
 * nobody gets in, and all certificates are of one authority. This process has an address in their network. Undefined where it
 * may not create networks.
 */
export async function createNetwork(programs: string) {
  const bridge = `rc${process.pid}`;
  const prefix = `10.213.${process.pid % 250}.`;
  const ip = (line: string) => execFileSync("ip", line.split(" "), { stdio: "pipe" });
  const identity = chooseUser();
  if (!identity) return undefined;
  try {
    ip(`link add ${bridge} type bridge`);
  } catch {
    return undefined;
  }
  ip(`addr add ${prefix}1/24 dev ${bridge}`);
  ip(`link set ${bridge} up`);
  const folder = await makeTempDir();
  const namespaces = new Set<string>();
  let machines = 0;
  const nameOf = (address: string) => `${bridge}-${address.split(".").at(-1)}`;

  /** The text of a file of the guide, for a machine. */
  const adapt = (name: string, { host, port }: Endpoint) =>
    readExample(name)
      .replaceAll(GUIDE.coordinator, host)
      .replaceAll(GUIDE.network, prefix)
      .replaceAll(GUIDE.folder, folder)
      .replace(GUIDE.port, `port=${port}`);
  const write = async (path: string, text: string) => {
    await writeFile(path, text, { mode: 0o600 });
    chownSync(path, identity.uid, identity.gid);
  };
  const makeCertificates = async (target: string, addresses: readonly string[]) => {
    await mkdir(target, { recursive: true });
    const env = { ...process.env, ADDRESSES: addresses.join(" ") };
    await execFile("sh", ["-e", resolve("docs/operators/cluster-certificates.sh")], { cwd: target, env });
    for (const name of await readdir(target)) chownSync(join(target, name), identity.uid, identity.gid);
    await chmod(target, 0o755);
  };
  function addMachine(number: number): string {
    const address = `${prefix}${number}`;
    const name = nameOf(address);
    ip(`netns add ${name}`);
    namespaces.add(name);
    ip(`link add ${bridge}v${number} master ${bridge} up type veth peer name eth0 netns ${name}`);
    ip(`-n ${name} addr add ${address}/24 dev eth0`);
    for (const device of ["lo", "eth0"]) ip(`-n ${name} link set ${device} up`);
    return address;
  }
  const runOn = (address: string, command: readonly string[]) => [
    "ip",
    "netns",
    "exec",
    nameOf(address),
    "env",
    `HOME=${folder}`,
    ...command,
  ];
  function urlOf({ host, port }: Endpoint, role: Role, database: string): string {
    const options = `sslmode=verify-full&sslrootcert=${folder}/cluster-ca.crt`;
    return `postgres://${role}:${passwordOf(role)}@${host}:${port}/${database}?${options}`;
  }
  const initialize = async (data: string) => {
    const options = ["--username=postgres", `--pwfile=${folder}/password`, "--auth=scram-sha-256"];
    const more = ["--encoding=UTF8", "--no-locale", "--no-sync", `--pgdata=${data}`];
    await execFile(join(programs, "initdb"), [...options, ...more], { ...identity, cwd: folder });
  };

  const numbers = Array.from({ length: MOST_MACHINES }, (_, index) => COORDINATOR + index);
  const addresses = [POOLER.number, ...numbers].map((number) => `${prefix}${number}`);
  await makeCertificates(folder, [...addresses, PUBLIC_ADDRESS]);
  await makeCertificates(join(folder, "other"), [`${prefix}1`]);
  await write(join(folder, "password"), passwordOf("postgres"));
  await write(join(folder, ".pgpass"), ROLES.map((role) => `*:*:*:${role}:${passwordOf(role)}\n`).join(""));
  await write(
    join(folder, "userlist.txt"),
    ROLES.map((role) => `"${role}" "${passwordOf(role)}"\n`).join(""),
  );

  return {
    /** Certificates and keys of all machines. In `other` are some of another authority. */
    folder,
    urlOf,
    /** Starts PostgreSQL on the next machine, by default on new tables; the first is the coordinator. */
    async start({ fill = initialize, settings = [], ...options }: PostgresOptions): Promise<PostgresServer> {
      const host = addMachine(COORDINATOR + machines++);
      const home = join(folder, host);
      await mkdir(home);
      chownSync(home, identity.uid, identity.gid);
      const server = await startPostgres({
        ...options,
        programs,
        disk: { folder: home, seenFromHere: home, command: (command) => runOn(host, command) },
        settings: [...settings, ...toSettings(adapt("cluster.conf", { host, port: 0 }))],
        async fill(data) {
          await fill(data);
          await write(join(data, "pg_hba.conf"), HBA.replaceAll(GUIDE.network, prefix));
        },
      });
      const port = portOf(server);
      return { ...server, urlOf: (database) => urlOf({ host, port }, "postgres", database) };
    },
    /** Gives a machine another address, for which it has no certificate. */
    addAddress(machine: PostgresServer): string {
      const address = hostOf(machine).replace(/\d+$/, (number) => `1${number}`);
      ip(`-n ${nameOf(hostOf(machine))} addr add ${address}/24 dev eth0`);
      return address;
    },
    async startPooler(
      program: string,
      coordinator: Endpoint,
      poolMode: "session" | "transaction" = "session",
    ) {
      const host = `${prefix}${POOLER.number}`;
      if (!namespaces.has(nameOf(host))) addMachine(POOLER.number);
      const port = POOLER.port + Number(poolMode === "transaction");
      const file = join(folder, `${poolMode}.ini`);
      const text = adapt("pgbouncer.ini", coordinator);
      await write(
        file,
        text.replace("pool_mode = session", `pool_mode = ${poolMode}`).replace(`${POOLER.port}`, `${port}`),
      );
      const [ipProgram = "", ...args] = runOn(host, [
        "setpriv",
        `--reuid=${identity.uid}`,
        `--regid=${identity.gid}`,
        "--clear-groups",
        program,
        file,
      ]);
      const start = async () => {
        const started = spawn(ipProgram, args, { cwd: folder, stdio: "ignore" });
        await vi.waitFor(() => tryConnect({ host, port }), { timeout: 20_000, interval: 20 });
        return started;
      };
      let child = await start();
      return {
        host,
        port,
        async restart() {
          await killProgram(child);
          child = await start();
        },
        [Symbol.asyncDispose]: () => killProgram(child),
      };
    },
    async [Symbol.asyncDispose]() {
      for (const name of namespaces) ip(`netns del ${name}`);
      ip(`link del ${bridge}`);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The settings of a `postgresql.conf`, as `name=value`. */
function toSettings(text: string): string[] {
  return [...text.matchAll(/^([\w.]+) = (?:'([^']*)'|(\S+))/gm)].map(
    ([, name, quoted, plain]) => `${name}=${quoted ?? plain}`,
  );
}
