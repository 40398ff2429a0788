import { readdir } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { SandboxCallError, startSandbox } from "../../../server/sandbox/index.ts";
import { folderOfTest, forSuite } from "../../helpers/suite.ts";

describe("a sandbox inside a test suite", () => {
  const sandbox = forSuite(() => startSandbox());

  test("has every call of the contract", async () => {
    const amount = { currency: "USD", value: 5 } as const;
    const created = await sandbox.payments.create({ amount, status: "PROCESSING" });
    const { accessToken } = await sandbox.tokens.create({ scopes: ["refunds"] });

    expect(await sandbox.payments.settle(created.paymentId)).toMatchObject({ status: "SETTLED" });
    expect(await sandbox.payments.cover(created.paymentId)).toMatchObject({ status: "COVERED" });
    expect((await sandbox.payments.list({ limit: 2 })).items).toHaveLength(2);
    await expect(sandbox.as(accessToken).payments.get(created.paymentId)).resolves.toMatchObject({ amount });
    expect(await sandbox.events.emit({ type: "account.linked", resourceId: "acc_1" })).toBeDefined();
    expect((await sandbox.events.list()).items[0]).toMatchObject({ resourceId: "acc_1" });
    await expect(sandbox.subscriptions.get("sub_unknown")).rejects.toMatchObject({ status: 404 });
    expect((await sandbox.deliveries.list()).items).toEqual([]);
    expect((await sandbox.subscriptions.list()).items).toEqual([]);
    expect((await sandbox.requests.list({ limit: 1 })).items).toEqual([]);
    expect(await sandbox.inbox.read()).toBeDefined();
    const changes = await sandbox.changes();
    await changes.cancel();
    await sandbox.reset();
    await expect(sandbox.payments.get(created.paymentId)).rejects.toThrow(SandboxCallError);
  });

  test("runs beside others, which share nothing with it, and is disposed of at the end of a block", async () => {
    let url: string;
    {
      await using other = await startSandbox({ settings: { RATE_LIMIT: "1000" } });
      url = other.url;
      await other.payments.fail(
        (await other.payments.create({ amount: { currency: "USD", value: 1 } })).paymentId,
      );

      expect(other.url).not.toBe(sandbox.url);
      const [there, here] = [await other.payments.list(), await sandbox.payments.list()];
      expect(there.items[0]).toMatchObject({ status: "FAILED" });
      expect(here.items.map(({ paymentId }) => paymentId)).not.toContain(there.items[0]?.paymentId);
    }
    await expect(fetch(url)).rejects.toThrow();
  });
});

test("a sandbox writes nothing to the disk, unless it is given a folder", async () => {
  const folder = await folderOfTest();
  const dataDir = `${folder}/data`;
  const before = await readdir(".");
  const lines: string[] = [];
  {
    await using _memory = await startSandbox();
    expect(await readdir(".")).toEqual(before);
    await using kept = await startSandbox({
      dataDir,
      settings: { LOG_LEVEL: "info" },
      log: (line) => lines.push(line),
    });
    await kept.clock.read();
  }
  expect(await readdir(dataDir)).toContain("postgres");
  expect(lines.map((line) => JSON.parse(line).msg)).toContain("request");
});

test("a wrong setting rejects the start, and names itself", async () => {
  await expect(startSandbox({ settings: { RATE_LIMIT: "many" } })).rejects.toThrow(/^RATE_LIMIT must be/);
});
