import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { findToken, insertToken } from "../../../server/storage/callers.ts";
import { useDatabase } from "../../helpers/databases.ts";
import { engines } from "../../helpers/engine.ts";

const sha256 = (token: string) => createHash("sha256").update(token).digest();

describe.each(engines)("access tokens on %s", (engine) => {
  const database = useDatabase(engine);

  test("keep their grant when they are stored again", async () => {
    const { db } = database;
    const tokenSha256 = sha256("twice");
    await insertToken(db, { tokenSha256, merchant: "acme", scopes: ["refunds"] });

    await insertToken(db, { tokenSha256, merchant: "globex", scopes: [] });

    expect(await findToken(db, tokenSha256)).toEqual({ merchant: "acme", scopes: ["refunds"] });
  });

  test("can't be stored in clear", async () => {
    const tokenSha256 = Buffer.from("sandbox_acme");

    await expect(insertToken(database.db, { tokenSha256, merchant: "acme", scopes: [] })).rejects.toThrow();
  });
});
