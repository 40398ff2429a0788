import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { runCommand } from "../../helpers/admin-command.ts";
import { startProduction } from "../../helpers/deployment.ts";
import { createPayment, refundOf } from "../../helpers/factories.ts";
import { post } from "../../helpers/server.ts";
import { newMerchant } from "../../helpers/store-factories.ts";
import { forSuite } from "../../helpers/suite.ts";

describe("npm run admin --", () => {
  const production = forSuite(() => startProduction());
  const server = forSuite(() => production.start());

  const run = (...args: string[]) => runCommand(args, { env: { DATABASE_URL: production.url } });

  test("hold, holds and release hold a merchant's refunds, list what is held, and release them", async () => {
    const merchant = newMerchant();
    const token = await production.issuer.token({ merchant_id: merchant });
    const paymentId = await createPayment(server, { merchant });
    const request = refundOf(paymentId);
    const issue = () => post<{ paymentId: string }>(server.url, "/v1/refunds", request, { token });

    const held = await run("hold", "--merchant", merchant, "--reason", "a stolen\ttoken");
    const refused = await issue();
    const repeated = await run("hold", "--merchant", merchant, "--reason", "another");
    const everybody = await run("hold", "--all", "--reason", "an audit");
    const listed = await run("holds");
    const released = await run("release", "--merchant", merchant);
    const twice = await run("release", "--merchant", merchant);
    await run("release", "--all");
    const none = await run("holds");

    const until =
      "refunds that wait stay PENDING, and new ones of settled payments are refused, until they are released\n";
    expect([held, repeated, everybody].map(({ code, stdout, stderr }) => [code, stdout, stderr])).toEqual([
      [0, `${merchant}: held; ${until}`, ""],
      [0, `${merchant}: was held already; ${until}`, ""],
      [0, `all merchants: held; ${until}`, ""],
    ]);
    expect(refused).toMatchObject({ status: 403, body: { errorDetails: { errorCode: "REFUNDS_HELD" } } });
    expect(toCells(listed.stdout)).toEqual([
      ["merchant", "held", "reason"],
      [merchant, expect.stringMatching(/^20\d\d-.*Z$/), "a stolen?token"],
      ["all merchants", expect.stringMatching(/^20\d\d-.*Z$/), "an audit"],
    ]);
    expect([released, twice].map(({ code, stdout, stderr }) => [code, stdout, stderr])).toEqual([
      [0, `${merchant}: released\n`, "Still held: all merchants\n"],
      [1, `${merchant}: there is no such hold\n`, "Still held: all merchants\n"],
    ]);
    expect(none.stdout).toBe("None.\n");
    expect(await issue()).toMatchObject({ status: 201, body: { paymentStatus: "AUTHORIZED" } });
  });

  test("block, blocks and unblock list what is blocked now, and change it", async () => {
    const far = "2126-01-02T03:04:05.000Z";
    await run("block", "--client", "shop", "--reason", "one\tof two");
    const blocked = await run("block", "--token", "jti-1", "--until", "2126-01-02", "--reason", "first");
    await run("block", "--token", "jti-1", "--until", far, "--reason", "second");
    await sql`insert into blocks (kind, name, reason, until) values ('merchant', 'acme', 'over', now())`.execute(
      server.database.db,
    );
    const listed = await run("blocks");
    const unblocked = [await run("unblock", "--token", "jti-1"), await run("unblock", "--merchant", "acme")];
    await run("unblock", "--client", "shop");
    const none = await run("blocks");

    expect(blocked.stdout).toBe(
      "token jti-1: blocked until 2126-01-02T00:00:00.000Z, at every server within a second\n",
    );
    const at = expect.stringMatching(/^20\d\d-.*Z$/);
    expect(toCells(listed.stdout)).toEqual([
      ["what", "name", "blocked", "until", "reason"],
      ["client", "shop", at, "-", "one?of two"],
      ["token", "jti-1", at, far, "second"],
    ]);
    expect(unblocked.map(({ code, stdout }) => [code, stdout])).toEqual([
      [0, "token jti-1: unblocked\n"],
      [1, "merchant acme: there is no such block\n"],
    ]);
    expect(none.stdout).toBe("None.\n");
  });
});

/** The cells of a printed table. */
function toCells(text: string): string[][] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ {2,}/));
}
