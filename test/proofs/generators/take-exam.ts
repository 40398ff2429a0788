/** Lets the sample program in another language take the exam of callers and receivers. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { startSandbox } from "../../../server/sandbox/index.ts";
import { examineCaller } from "../../certify/caller/examine-caller.ts";
import { commandHook, type Facts, type Hook } from "../../certify/hooks.ts";
import { examineReceiver } from "../../certify/receiver/examine-receiver.ts";
import { serveLocally } from "../../helpers/network/local-server.ts";
import { describeFailure } from "../../reporting/json-junit-html.ts";
import { type Merchant, SECRET } from "./build-sample.ts";

const STATUSES = ["PENDING", "AUTHORIZED", "TERMINAL_FAILED"];

/** The checks of money, of the calls and of the receiver: every sample has to pass these, and some take the whole exam. */
export const OF_MONEY = {
  caller: ["refund.issued", "lost.after", "lost.cut", "busy.503", "busy.429", "state.lost", "state.foreign"],
  receiver: ["signature.", "state.stored", "state.at-once", "restart."],
};

/** Has a sample take checks of the exam, all of them when none are chosen; resolves with what it passed, as `60 checks`. */
export async function takeExam(
  merchant: Merchant,
  only: Partial<Record<keyof typeof OF_MONEY, readonly string[]>> = {},
): Promise<string> {
  /** What the sample printed of each refund. */
  const printed = new Map<string, string>();
  const run: Hook = async (facts, kill) => {
    const order = '"$CERTIFY_PAYMENT_ID" "$CERTIFY_AMOUNT" "$CERTIFY_REFERENCE"';
    const service = "export PAYMENTS_URL=$CERTIFY_URL PAYMENTS_TOKEN=$CERTIFY_TOKEN";
    const result = await commandHook(`${service} && ${merchant.refundCommand} ${order}`, 120_000)(
      facts,
      kill,
    );
    printed.set(facts.reference ?? "", result.text);
    return result;
  };
  const state: Hook = async (facts) => ({ text: await statusOf(merchant, facts, printed) });
  // The sample is started for each delivery, so it has nothing in memory that a restart could lose.
  const restart: Hook = async () => ({ text: "" });
  await using receiver = await serveLocally(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const [id, timestamp, signature] = ["id", "timestamp", "signature"].map((name) =>
      String(request.headers[`webhook-${name}`] ?? ""),
    ) as [string, string, string];
    const status = await merchant.receive({ id, timestamp, signature, body }).catch(() => 500);
    response.writeHead(status).end();
  });
  await using sandbox = await startSandbox();
  const options = {
    url: `${receiver.url}/webhooks`,
    secret: SECRET,
    state,
    timeoutMs: 60_000, // each delivery starts a process, so fifty at once take as long as the machine needs
    settleMs: 1_000,
  };
  const { caller = [], receiver: received = [] } = only;
  const reports = [
    await examineReceiver({ ...options, restart, only: received }),
    await examineCaller(
      { ...options, run, canKill: true, slowMs: 5_000, silentMs: 45_000, only: caller },
      {},
      sandbox,
    ),
  ];
  const results = reports.flatMap((report) => report.results);
  const failures = results.filter(({ outcome }) => outcome !== "passed");
  if (failures.length === 0) return `${results.length} checks`;
  throw new Error(failures.map((result) => `${result.id}\n${describeFailure(result).join("\n")}`).join("\n"));
}

/** What a merchant knows of a refund: its latest event, and before the first one what the call said. */
async function statusOf(
  merchant: Merchant,
  { reference = "" }: Facts,
  printed: ReadonlyMap<string, string>,
): Promise<string> {
  const events = (await storedEvents(merchant.folder)).filter(
    ({ data }) => data.clientReferenceId === reference && STATUSES.includes(String(data.paymentStatus)),
  );
  const latest = events.sort((first, second) => second.sequence - first.sequence)[0];
  return String(latest?.data.paymentStatus ?? printed.get(reference) ?? "");
}

type StoredEvent = {
  readonly type: string;
  readonly sequence: number;
  readonly data: Readonly<Record<string, unknown>>;
};

/** The events that a sample has stored in its folder: as rows of a database or as files. */
async function storedEvents(folder: string): Promise<StoredEvent[]> {
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
