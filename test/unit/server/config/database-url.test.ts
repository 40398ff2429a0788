import { readFileSync } from "node:fs";
import { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { readCommandSettings } from "../../../../server/config/database-and-retention.ts";
import { requireTls } from "../../../../server/config/database-url.ts";
import { ConfigError } from "../../../../server/config/environment.ts";
import { listenForSockets } from "../../../helpers/network/local-server.ts";
import { forSuite } from "../../../helpers/suite.ts";

const FIXTURES = "test/fixtures/tls/";
const pem = (name: string) => readFileSync(FIXTURES + name, "utf8");

const AUTHORITY = `sslrootcert=${FIXTURES}authority.pem`;
const MODES = ["require", "verify-ca", "verify-full", "disable", "prefer", "no-verify"].map(
  (mode) => `sslmode=${mode}`,
);
const EACH = [...MODES, "ssl=true", "ssl=0", "ssl=no-verify", "uselibpqcompat=true", AUTHORITY];

/** The parameters that decide on TLS: none, each, and two in either order; alone, and before one that changes their meaning. */
const PARAMETERS = [
  "",
  ...EACH,
  ...EACH.flatMap((first) => EACH.map((second) => `${first}&${second}`)),
].flatMap((list) => [list, `${list}&uselibpqcompat=true`, `${list}&uselibpqcompat=true&${AUTHORITY}`]);

const toUrl = (parameters: string) => `postgres://user:password@hooks.example.com/refunds?${parameters}`;

describe("the address of a database on another machine", () => {
  // Its certificate is one that the authority has signed, for another name.
  const certificate = { cert: pem("other.pem"), key: pem("receiver.key") };
  const impostor = forSuite(() => startDatabase(certificate));

  test("is accepted only if the driver sends nothing to a server without a certificate for its name", async () => {
    const accepted = PARAMETERS.filter((parameters) => isAccepted(toUrl(parameters)));
    const told: string[] = [];
    for (const parameters of accepted) {
      if (await impostor.hears(toUrl(parameters))) told.push(parameters);
    }

    expect(accepted).toEqual(expect.arrayContaining(MODES.slice(0, 3)));
    expect(told).toEqual([]);
  });

  test.each([
    "sslmode=require&uselibpqcompat=true",
    "sslmode=verify-full&host=db.example.com&sslmode=disable",
  ])("is refused where a parameter takes back what another one promises (%s)", async (parameters) => {
    expect(await impostor.hears(toUrl(parameters))).toBe(true);
    expect(() => readCommandSettings({ DATABASE_URL: toUrl(parameters) })).toThrow(
      /^DATABASE_URL must lead to verified TLS/,
    );
  });

  test("that the driver can't read is refused without its password", () => {
    const url = toUrl("sslrootcert=/no/such/file");

    expect(() => requireTls(url, {})).toThrow(ConfigError);
    expect(() => requireTls(url, {})).toThrow(/^DATABASE_URL (?!.*password).*ENOENT/);
  });
});

function isAccepted(url: string): boolean {
  try {
    requireTls(url, {});
    return true;
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}

/** A server that begins as PostgreSQL does, with TLS where it is asked for, and listens for a first message. */
async function startDatabase(certificate: { cert: string; key: string }) {
  let heard = 0;
  const listener = await listenForSockets((socket) => {
    const hear = () => {
      heard += 1;
      socket.destroy();
    };
    socket.once("data", (bytes) => {
      if (!bytes.equals(SSL_REQUEST)) return hear();
      socket.write("S");
      new TLSSocket(socket, { isServer: true, ...certificate }).on("error", () => {}).once("data", hear);
    });
  });
  return {
    [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose](),
    /** Whether it gets a message from the driver, which begins with the user's name, when it is at this address. */
    async hears(url: string): Promise<boolean> {
      const before = heard;
      const socket = new Socket();
      const connect = socket.connect.bind(socket);
      const { port } = listener;
      const here = Object.assign(socket, { connect: () => connect({ port, host: "127.0.0.1" }) });
      const client = new pg.Client({ connectionString: url, stream: () => here });
      await client.connect().catch(() => {});
      return heard > before;
    },
  };
}

const SSL_REQUEST = Buffer.from("0000000804d2162f", "hex");
