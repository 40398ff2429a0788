import { describe, expect, test } from "vitest";
import { emitResourceEvent } from "../../../../server/storage/webhooks/event-fan-out.ts";
import { useDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import { NOW, newMerchant } from "../../../helpers/store-factories.ts";

describe.each(engines)("events of accounts and customers on %s", (engine) => {
  const database = useDatabase(engine);

  test("are counted without a gap when twenty come at once", async () => {
    const event = { merchant: newMerchant(), type: "account.linked", resourceId: "acc_1", now: NOW } as const;

    const sequences = await Promise.all(
      Array.from({ length: 20 }, () => emitResourceEvent(database.db, event)),
    );

    expect(sequences.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });
});
