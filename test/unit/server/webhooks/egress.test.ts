import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readConfig } from "../../../../server/config/config.ts";
import { createConnections } from "../../../../server/webhooks/receiver-connections.ts";
import { type SendOptions, send } from "../../../../server/webhooks/send-request.ts";
import { startConnectProxy } from "../../../helpers/network/connect-proxy.ts";
import { listenLocally } from "../../../helpers/network/local-server.ts";
import { resolverOf } from "../../../helpers/network/nameserver.ts";
import { startReceiver } from "../../../helpers/receiver.ts";

const path = (name: string) => fileURLToPath(new URL(`../../../fixtures/tls/${name}`, import.meta.url));
const pem = (name: string) => readFileSync(path(name), "utf8");
const RECEIVER = { key: pem("receiver.key"), cert: pem("receiver.pem") };
const DELIVERY = { headers: {}, body: "{}" };

/** As a server with these settings sends. */
function optionsOf(settings: Readonly<Record<string, string>>, more: Partial<SendOptions> = {}): SendOptions {
  const { proxy, secureContext } = readConfig(settings).egress;
  return {
    policy: { allowLocal: true, allowPrivate: false },
    resolve: resolverOf({
      "hooks.example.com": ["127.0.0.1"],
      "twice.example.com": ["::1", "127.0.0.1"],
      "private.example.com": ["10.0.0.1"],
    }),
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    proxy,
    secureContext,
    ...more,
  };
}

describe("through a proxy", () => {
  test("a delivery goes to the address that was vetted here, and the receiver's certificate is verified", async () => {
    await using proxy = await startConnectProxy();
    await using receiver = await startReceiver(undefined, { tls: RECEIVER });
    await using plain = await startReceiver();
    const WEBHOOK_PROXY = proxy.url.replace("//", "//egress:p%40ss@");
    const connections = createConnections();
    const options = optionsOf({ WEBHOOK_PROXY, WEBHOOK_CA_FILE: path("authority.pem") }, { connections });
    const { port } = new URL(receiver.url);
    const url = `https://hooks.example.com:${port}/`;

    const results = [await send({ ...DELIVERY, url }, options), await send({ ...DELIVERY, url }, options)];
    const overHttp = await send({ ...DELIVERY, url: plain.url }, options);
    const untrusted = await send({ ...DELIVERY, url }, optionsOf({ WEBHOOK_PROXY }));
    await connections.close();

    expect(results).toMatchObject([{ status: 204 }, { status: 204 }]);
    expect([overHttp.status, receiver.received.length, plain.received.length]).toEqual([204, 2, 1]);
    expect(untrusted.error).toBe("the certificate's issuer is not trusted");
    const authorization = `Basic ${btoa("egress:p@ss")}`;
    expect(proxy.asked).toEqual(
      [port, new URL(plain.url).port, port].map((to) => ({
        request: `CONNECT 127.0.0.1:${to}`,
        authorization,
      })),
    );
  });

  test("the proxy is never asked for an address that deliveries must not reach", async () => {
    await using proxy = await startConnectProxy();

    const options = optionsOf({ WEBHOOK_PROXY: proxy.url });
    const result = await send({ ...DELIVERY, url: "https://private.example.com/" }, options);

    expect(result.error).toBe(
      "the host has an address that is not public; WEBHOOK_ALLOW_PRIVATE=false forbids private ones",
    );
    expect(proxy.asked).toEqual([]);
  });

  test("that refuses or is unreachable, a delivery fails with that reason, and never bypasses the proxy", async () => {
    await using receiver = await startReceiver();
    await using refusing = await startConnectProxy({ refusal: 403 });
    const sendThrough = (WEBHOOK_PROXY: string) =>
      send({ ...DELIVERY, url: receiver.url }, optionsOf({ WEBHOOK_PROXY }));

    const refused = await sendThrough(refusing.url);
    const away = await sendThrough("http://127.0.0.1:1");

    expect([refused.error, away.error]).toEqual([
      "our proxy refused the connection (403)",
      "our proxy gave no connection",
    ]);
    expect(receiver.received).toEqual([]);
  });
});

test("a receiver that wants a client certificate gets the one of the settings", async () => {
  const asking = createServer({ ...RECEIVER, ca: pem("authority.pem"), requestCert: true }, (_, response) => {
    response.writeHead(204).end();
  });
  await using server = await listenLocally(asking);
  const url = server.url.replace("http:", "https:");
  const trusting = { WEBHOOK_CA_FILE: path("authority.pem") };
  const showing = {
    ...trusting,
    WEBHOOK_CLIENT_CERT_FILE: path("receiver.pem"),
    WEBHOOK_CLIENT_KEY_FILE: path("receiver.key"),
  };

  const without = await send({ ...DELIVERY, url }, optionsOf(trusting));
  const shown = await send({ ...DELIVERY, url }, optionsOf(showing));

  expect([without.status, shown.status]).toEqual([null, 204]);
});

test.each<[settings: Record<string, string>, message: RegExp]>([
  [{ WEBHOOK_PROXY: "proxy.internal" }, /^WEBHOOK_PROXY must be the address of a proxy/],
  [{ WEBHOOK_PROXY: "socks5://proxy.internal:1080" }, /^WEBHOOK_PROXY must be the address of a proxy/],
  [{ WEBHOOK_PROXY: "http://egress:100%sure@127.0.0.1:1" }, /in WEBHOOK_PROXY must be percent-encoded/],
  [{ WEBHOOK_PROXY: "http://100%@127.0.0.1:1" }, /in WEBHOOK_PROXY must be percent-encoded/],
  [{ WEBHOOK_CA_FILE: path("receiver.key") }, /^WEBHOOK_CA_FILE must have certificates in PEM/],
  [
    { WEBHOOK_CA_FILE: "/nowhere.pem" },
    /^WEBHOOK_CA_FILE must be the path of a file that can be read \(ENOENT\)\.$/,
  ],
  [{ WEBHOOK_CLIENT_CERT_FILE: path("receiver.pem") }, /belong together: set both, or neither/],
  [
    { WEBHOOK_CLIENT_CERT_FILE: path("authority.pem"), WEBHOOK_CLIENT_KEY_FILE: path("receiver.key") },
    /must be a certificate and its own key, in PEM \(/,
  ],
])("unusable settings of deliveries are refused: %j", (settings, message) => {
  expect(() => readConfig(settings)).toThrow(message);
});
