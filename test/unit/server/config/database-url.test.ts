import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer, Socket } from "node:net";
import { TLSSocket } from "node:tls";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { requireTls } from "../../../../server/config/database-url.ts";
import { ConfigError } from "../../../../server/config/environment.ts";
import { readCommandSettings } from "../../../../server/config/store-settings.ts";

const FIXTURES = "test/fixtures/tls/";
const pem = (name: string) => readFileSync(FIXTURES + name, "utf8");

const MODES = ["disable", "prefer", "require", "verify-ca", "verify-full", "no-verify"].map(
  (mode) => `sslmode=${mode}`,
);
const OTHERS = [
  "ssl=true",
  "ssl=0",
  "ssl=no-verify",
  "uselibpqcompat=true",
  `sslrootcert=${FIXTURES}authority.pem`,
];

/** The parameters that decide on TLS: none, each, and two in either order; alone, and before one that changes their meaning. */
const PARAMETERS = listsOf([...MODES, ...OTHERS], 2).flatMap((list) =>
  ["", "uselibpqcompat=true", `uselibpqcompat=true&sslrootcert=${FIXTURES}authority.pem`].map((last) =>
    [...list, last].filter((part) => part !== "").join("&"),
  ),
);

const toUrl = (parameters: string) => `postgres://user:password@hooks.example.com/refunds?${parameters}`;

describe("the address of a database on another machine", () => {
  let impostor: Awaited<ReturnType<typeof startDatabase>>;
  beforeAll(async () => {
    // Its certificate is one that the authority has signed, for another name.
    impostor = await startDatabase({ cert: pem("other.pem"), key: pem("receiver.key") });
  });
  afterAll(() => impostor.close());

  test("is accepted only if the driver tells nothing to a server that has no certificate for its name", async () => {
    const accepted = PARAMETERS.filter((parameters) => isAccepted(toUrl(parameters)));
    const told: string[] = [];
    for (const parameters of accepted) {
      if (await impostor.hears(toUrl(parameters))) told.push(parameters);
    }

    expect(accepted).toEqual(expect.arrayContaining(MODES.slice(2, 5)));
    expect(told).toEqual([]);
  });

  test.each([
    "sslmode=verify-full&sslmode=disable",
    "sslmode=require&uselibpqcompat=true",
    `sslmode=verify-ca&uselibpqcompat=true&sslrootcert=${FIXTURES}authority.pem`,
    "sslmode=verify-full&ssl=no-verify&sslmode=no-verify",
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

function listsOf(items: readonly string[], longest: number): string[][] {
  if (longest === 0) return [[]];
  const shorter = listsOf(items, longest - 1);
  const longer = shorter.filter((list) => list.length === longest - 1);
  return [...shorter, ...longer.flatMap((list) => items.map((item) => [...list, item]))];
}

/** A server that begins as PostgreSQL does, with TLS where it is asked for, and listens for a first message. */
async function startDatabase(certificate: { cert: string; key: string }) {
  let heard = 0;
  const listen = (socket: Socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      heard += 1;
      socket.destroy();
    });
  };
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (bytes) => {
      if (!bytes.equals(SSL_REQUEST)) {
        heard += 1;
        socket.destroy();
        return;
      }
      socket.write("S");
      listen(new TLSSocket(socket, { isServer: true, ...certificate }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    close: () => server.close(),
    /** Whether it gets a message from the driver, which begins with the user's name, when it is at this address. */
    async hears(url: string): Promise<boolean> {
      const before = heard;
      const socket = new Socket();
      const connect = socket.connect.bind(socket);
      const here = Object.assign(socket, { connect: () => connect({ port, host: "127.0.0.1" }) });
      const client = new pg.Client({ connectionString: url, stream: () => here });
      await client.connect().catch(() => {});
      return heard > before;
    },
  };
}

const SSL_REQUEST = Buffer.from("0000000804d2162f", "hex");
