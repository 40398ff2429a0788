import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readConfig } from "../../../../server/config/config.ts";
import { readCommandSettings } from "../../../../server/config/database-and-retention.ts";
import { ConfigError, SECRET_SETTINGS } from "../../../../server/config/environment.ts";
import { folderOfTest } from "../../../helpers/suite.ts";

const KEY = Buffer.alloc(32, 1).toString("base64");
const RANDOM_KEY = randomBytes(32).toString("base64");
const OLD_KEY = Buffer.alloc(32, 2).toString("base64");
const DATABASE_URL = "postgres://user@localhost/refunds";
const CERTIFICATE = "test/fixtures/tls/receiver.pem";
const WEBHOOK_PROXY = "http://user:password@proxy.internal:3128";
const SECRETS = { DATABASE_URL, ENCRYPTION_KEY: KEY, ENCRYPTION_KEYS_OLD: OLD_KEY, WEBHOOK_PROXY };
const toSetting = (text: string) => Buffer.from(text, "base64");

describe("the settings", () => {
  test("of keys take one key for each line as well, and refuse anything that is not a key", () => {
    const read = (more: Record<string, string>) =>
      readConfig({ ENCRYPTION_KEY: KEY, ...more }).encryptionKeys;

    const lines = `${OLD_KEY}\r\n${RANDOM_KEY}\n\n, ${KEY.replace("=", "")}\n`;
    expect(read({ ENCRYPTION_KEYS_OLD: lines })).toEqual([KEY, OLD_KEY, RANDOM_KEY, KEY].map(toSetting));
    expect(read({ ENCRYPTION_KEY: ` ${KEY}\n` })).toEqual([toSetting(KEY)]);
    for (const wrong of [`${OLD_KEY}garbage`, `${OLD_KEY} # of 2025`, `${OLD_KEY}${KEY}`])
      for (const name of ["ENCRYPTION_KEY", "ENCRYPTION_KEYS_OLD"])
        expect(() => read({ [name]: wrong })).toThrow(`${name} must be`);
  });

  test.each(SECRET_SETTINGS)(
    "that are secret may be in a file instead, which has to be readable and not empty (%s)",
    async (name) => {
      const folder = await folderOfTest();
      const file = join(folder, "secret");
      const read = (path: string, inside = "") =>
        readConfig({ ...SECRETS, [name]: inside, [`${name}_FILE`]: path });

      await writeFile(file, `${SECRETS[name]}\n`);
      // The file of the database's address is read again while the password changes.
      expect({ ...read(file), readDatabaseUrls: undefined }).toEqual(readConfig(SECRETS));
      expect(() => read(file, SECRETS[name])).toThrow(
        `${name} and ${name}_FILE are both set: remove one of them.`,
      );
      await writeFile(file, "\n");
      expect(() => read(file)).toThrow(`${name}_FILE names an empty file`);
      expect(() => read(folder)).toThrow(
        `${name}_FILE must be the path of a file that can be read (EISDIR).`,
      );
    },
  );

  test("that are secret are never repeated in messages about them", () => {
    const password = "hunter2-hunter2";
    const wrong = [
      { ENCRYPTION_KEY: password },
      { WEBHOOK_PROXY: `http://user:${password}@proxy.internal:3128/path` },
      { WEBHOOK_PROXY: `http://user:${password}%@proxy.internal:3128` },
      { ENCRYPTION_KEY: KEY, ENCRYPTION_KEYS_OLD: password },
      { DATABASE_URL: `mysql://user:${password}@localhost/refunds` },
      ...[...SECRET_SETTINGS, "WEBHOOK_CLIENT_KEY"].map((name) => ({
        [`${name}_FILE`]: password,
        WEBHOOK_CLIENT_CERT_FILE: CERTIFICATE,
      })),
    ];

    for (const env of wrong) {
      const message = expect.not.stringContaining(password);
      expect(() => readConfig(env)).toThrow(expect.objectContaining({ name: "ConfigError", message }));
    }
  });
});

describe("the settings of an operator's command", () => {
  test.each([
    ["DATABASE_URL", {}],
    ["DATABASE_URL", { DATABASE_URL: "postgres://user@db.internal/refunds" }],
    ["NODE_TLS_REJECT_UNAUTHORIZED", { DATABASE_URL, NODE_TLS_REJECT_UNAUTHORIZED: "0" }],
    ["ENCRYPTION_KEY", { DATABASE_URL }],
    ["ENCRYPTION_KEY", { DATABASE_URL, ENCRYPTION_KEY: Buffer.alloc(32).toString("base64") }],
  ])("are refused with the name of the missing or unsafe one (%s, %j)", (name, env) => {
    const read = () => readCommandSettings(env).requireEncryptionKeys();

    expect(read).toThrow(ConfigError);
    expect(read).toThrow(new RegExp(`^${name}\\b`));
  });
});
