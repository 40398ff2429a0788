import { afterEach, describe, expect, test } from "vitest";
import { advance, readOffset } from "../../../../server/storage/database/deployment.ts";
import { useDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import { loadOriginal } from "../../../helpers/store-factories.ts";

describe.each(engines)("the clock on %s", (engine) => {
  const database = useDatabase(engine);
  afterEach(() => database.db.deleteFrom("clock").execute());

  test("was never moved at first", async () => {
    expect(await readOffset(database.db)).toBe(0);
  });

  test("advances for every later reader", async () => {
    const { db } = database;
    const aCenturyMs = 100 * 365 * 86_400_000;

    expect(await advance(db, (offsetMs) => offsetMs + aCenturyMs)).toEqual({
      kind: "advanced",
      offsetMs: aCenturyMs,
    });

    expect(await readOffset(db)).toBe(aCenturyMs);
    const { clockOffsetMs } = await loadOriginal(db, { merchant: "acme", paymentId: "none" });
    expect(clockOffsetMs).toBe(aCenturyMs);
  });

  test("accepts an advance by nothing, and rejects one backwards", async () => {
    const { db } = database;
    await advance(db, () => 1_000);

    expect(await advance(db, (offsetMs) => offsetMs)).toEqual({ kind: "advanced", offsetMs: 1_000 });
    expect(await advance(db, (offsetMs) => offsetMs - 1)).toEqual({ kind: "backwards" });
    expect(await advance(db, () => -1)).toEqual({ kind: "backwards" });

    expect(await readOffset(db)).toBe(1_000);
  });

  test("is not advanced when the new time can't be computed", async () => {
    const { db } = database;
    const impossible = () => {
      throw new RangeError("no such time");
    };

    await expect(advance(db, impossible)).rejects.toThrow("no such time");
    await expect(advance(db, () => Number.NaN)).rejects.toThrow();

    expect(await readOffset(db)).toBe(0);
  });

  test("makes every move of thirty at once, one after the other, from the very first on", async () => {
    const { db } = database;

    const advances = await Promise.all(
      Array.from({ length: 30 }, () => advance(db, (offsetMs) => offsetMs + 1_000)),
    );

    const offsets = advances.map((move) => (move.kind === "advanced" ? move.offsetMs : 0));
    expect(offsets.sort((a, b) => a - b)).toEqual(
      Array.from({ length: 30 }, (_, index) => (index + 1) * 1_000),
    );
    expect(await readOffset(db)).toBe(30_000);
  });
});
