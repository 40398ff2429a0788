import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export type StoredEvent = {
  readonly type: string;
  readonly sequence: number;
  readonly data: Readonly<Record<string, unknown>>;
};

/** The events that a sample has stored in its folder: as rows of a database or as files. */
export async function storedEvents(folder: string): Promise<StoredEvent[]> {
  const database = join(folder, "events.db");
  if (existsSync(database)) {
    using rows = new DatabaseSync(database, { readOnly: true });
    return rows
      .prepare("SELECT event FROM events ORDER BY rowid")
      .all()
      .map(({ event }) => JSON.parse(String(event)));
  }
  const names = await readdir(join(folder, "events")).catch(() => []);
  const whole = names.filter((name) => !name.startsWith("."));
  return Promise.all(
    whole.map(async (name) => JSON.parse(await readFile(join(folder, "events", name), "utf8"))),
  );
}
