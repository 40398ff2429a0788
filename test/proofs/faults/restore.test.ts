import { execFile as runFile } from "node:child_process";
import { chownSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { linesOfPayment, runCommand } from "../../helpers/admin-command.ts";
import { type Duplicate, dollars, type Refund, refundOf } from "../../helpers/factories.ts";
import { type Issuer, startIssuer } from "../../helpers/issuer.ts";
import { chooseUser, type PostgresServer, query } from "../../helpers/postgres.ts";
import { until } from "../../helpers/receiver.ts";
import { post, spawnServer } from "../../helpers/server.ts";
import { folderOfTest } from "../../helpers/suite.ts";
import { record, roundsOf } from "./setup/figures.ts";
import {
  createCrashableStore,
  findPostgresPrograms,
  untilArchived,
  untilTrue,
} from "./setup/lasting-store.ts";

const execFile = promisify(runFile);
const REFUNDS = 20;
const FAULT = "restore to a point in time";

test("a restore to a point in time: nothing is paid twice, and every acknowledged refund once", async (context) => {
  const programs = findPostgresPrograms(context, FAULT);
  const rounds = roundsOf(0.02);
  const counted = { acknowledged: 0, "forgotten by the restore": 0, "paid twice": 0, "not paid": 0 };
  for (let round = 1; round <= rounds; round += 1) await runRound(programs, counted);
  record(FAULT, { rounds, ...counted });
  expect(counted).toMatchObject({ "paid twice": 0, "not paid": 0 });
});

type Counted = Record<"acknowledged" | "forgotten by the restore" | "paid twice" | "not paid", number>;
type Request = ReturnType<typeof refundOf>;

async function runRound(programs: string, counted: Counted): Promise<void> {
  await using issuer = await startIssuer();
  const { folder, archive, runScript } = await prepareFolders(programs);
  const archiving = `archive_command=test ! -f ${archive}/%f && cp %p ${archive}/%f`;
  const settings = ["archive_mode=on", archiving];
  const { postgres: first, env: keys } = await createCrashableStore({ programs, settings });
  const files = {
    HIGH_WATER_MARK_FILE: join(folder, "mark"),
    PAYMENTS: join(folder, "payments"),
    PAYOUTS: join(folder, "payouts"),
  };
  const business = { issuer, ...files, ENCRYPTION_KEY: keys.ENCRYPTION_KEY ?? "" };
  const merchant = await openShop(first, business);
  const requests = (count = REFUNDS) =>
    Array.from({ length: count }, () => refundOf("pay_1", { amount: dollars(0.01) }));
  const books = createBooks(first);

  const before = requests();
  await merchant.issueAll(before);
  await runScript("back-up", { DATABASE_URL: first.urlOf("postgres"), BACKUP: join(folder, "backup") });
  const kept = requests();
  await merchant.issueAll(kept);
  const [moment] = await query<{ now: string }>(
    first.urlOf("postgres"),
    "select clock_timestamp()::text as now",
  );
  const forgotten = requests();
  await merchant.issueAll(forgotten);
  await books.untilRead([...before, ...kept, ...forgotten]);
  const unread = requests();
  await merchant.issueAll(unread);
  await untilArchived(first.urlOf("postgres"));
  await merchant.server.stop("SIGKILL");
  await first.crash("SIGKILL");

  const fill = (DATA: string) =>
    runScript("restore", {
      BACKUP: join(folder, "backup"),
      ARCHIVE: archive,
      DATA,
      UNTIL: moment?.now ?? "",
    });
  const { postgres: restored } = await createCrashableStore({ programs, fill });
  await untilTrue(restored.urlOf("postgres"), "not pg_is_in_recovery()");
  const reopened = await openShop(restored, business);
  const env = { DATABASE_URL: restored.urlOf("postgres") };
  expect(await runCommand(["holds"], { env })).toMatchObject({
    stdout: expect.stringMatching(
      /all merchants .* restored to an earlier state, without the (refund|payout) /,
    ),
  });
  // A merchant who has lost the response repeats the call before anything is reconciled.
  const early = await reopened.issue(forgotten[0] as Request);
  expect(early).toMatchObject({ status: 403, body: { errorDetails: { errorCode: "REFUNDS_HELD" } } });
  await writeFile(files.PAYOUTS, books.lines().join(""));
  await runScript("reconcile", { ...env, ...files });

  const repeated = [];
  for (const request of [...before, ...kept, ...forgotten, ...unread])
    repeated.push({ request, ...(await reopened.issue(request)) });
  books.continueAt(restored);
  await books.untilRead(unread);

  const known = repeated.slice(0, -unread.length);
  for (const { request, status, body } of known) {
    const { existing } = body as Duplicate;
    expect([status, existing]).toMatchObject([409, { paymentId: books.paidFor(request)[0] }]);
  }
  const all = repeated.map(({ request }) => books.paidFor(request).length);
  counted.acknowledged += all.length;
  counted["forgotten by the restore"] +=
    forgotten.length + repeated.filter(({ status }) => status === 201).length;
  counted["paid twice"] += all.filter((times) => times > 1).length;
  counted["not paid"] += all.filter((times) => times === 0).length;
  await reopened.server.stop();
}

/** Folders for the user that PostgreSQL runs as, and the scripts of the guide as that user runs them. */
async function prepareFolders(programs: string) {
  const folder = await folderOfTest();
  const archive = join(folder, "archive");
  const identity = chooseUser();
  await mkdir(archive);
  for (const path of [folder, archive]) {
    await chmod(path, 0o777);
    if (identity) chownSync(path, identity.uid, identity.gid);
  }
  const PATH = [programs, process.env.PATH].join(delimiter);
  const runScript = (name: string, env: Readonly<Record<string, string>>) =>
    execFile("sh", ["-e", `docs/operators/${name}.sh`], {
      ...(name === "reconcile" ? {} : identity),
      env: { PATH, ...env },
    });
  return { folder, archive, runScript };
}

type Business = { issuer: Issuer; HIGH_WATER_MARK_FILE: string; PAYMENTS: string; ENCRYPTION_KEY: string };

/** A server on a database, with a payment of a merchant who calls it. */
async function openShop(postgres: PostgresServer, { issuer, PAYMENTS, ...settings }: Business) {
  const { HIGH_WATER_MARK_FILE, ENCRYPTION_KEY } = settings;
  const DATABASE_URL = postgres.urlOf("postgres");
  await writeFile(PAYMENTS, linesOfPayment("acme", "pay_1", 9_999));
  const server = await spawnServer({
    dataDir: "unused",
    env: { MODE: "production", DATABASE_URL, HIGH_WATER_MARK_FILE, ENCRYPTION_KEY, ...issuer.env },
  });
  await runCommand(["payments", PAYMENTS], { env: { DATABASE_URL } });
  const token = await issuer.token({ merchant_id: "acme" });
  const issue = (request: Request) => post<Refund | Duplicate>(server.url, "/v1/refunds", request, { token });
  const issueAll = async (requests: readonly Request[]) => {
    const responses = await Promise.all(requests.map(issue));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]));
  };
  return { server, issue, issueAll };
}

/** What the payment system has read of the payout feed, and paid. */
function createBooks(first: PostgresServer) {
  let postgres = first;
  let cursor = 0;
  const lines: string[] = [];
  const paid = new Map<string, string[]>();
  async function read() {
    const env = { DATABASE_URL: postgres.urlOf("postgres") };
    const { stdout } = await runCommand(["payouts", "--after", `${cursor}`, "--limit", "10000"], { env });
    for (const line of stdout.split(/(?<=\n)/).filter((text) => text !== "")) {
      const payout = JSON.parse(line) as { cursor: number; requestKey: string; paymentId: string };
      lines.push(line);
      cursor = payout.cursor;
      paid.set(payout.requestKey, [...(paid.get(payout.requestKey) ?? []), payout.paymentId]);
    }
  }
  const paidFor = ({ requestKey }: Request) => paid.get(requestKey) ?? [];
  return {
    paidFor,
    lines: () => lines,
    continueAt(other: PostgresServer) {
      postgres = other;
    },
    async untilRead(requests: readonly Request[]) {
      await until(async () => {
        await read();
        return requests.every((request) => paidFor(request).length > 0) || undefined;
      });
    },
  };
}
