import { type Command, Option } from "commander";
import type { Blocked } from "../storage/blocks-table.ts";
import { untilHeld } from "../storage/payments/holds.ts";
import type { AdminContext, RunWork } from "./command-context.ts";
import { futureDate, notEmpty } from "./command-context.ts";
import { printTable } from "./command-output.ts";

/** Defines the commands that begin, end and list blocks of calls and holds of refunds. */
export function defineRestrictions(program: Command, run: RunWork): void {
  defineBlocks(program, run);
  defineHolds(program, run);
}

const reasonOption = () => new Option("--reason <text>").makeOptionMandatory().argParser(notEmpty);

/** The options that name whom a block concerns. Exactly one must be given: a mistake would block too much or too little. */
type BlockTarget = Partial<Record<Blocked["kind"], string>>;

const withBlockTarget = (command: Command) =>
  command
    .option("--merchant <merchant>", "all calls of a merchant", notEmpty)
    .option("--client <client_id>", "all calls of a client of the issuer", notEmpty)
    .option("--token <jti>", "all calls with one access token", notEmpty);

function readBlocked({ merchant, client, token }: BlockTarget, command: Command): Blocked {
  const targets = Object.entries({ merchant, client, token }).filter(([, name]) => name !== undefined);
  const [[kind, name] = []] = targets;
  if (name === undefined || targets.length > 1)
    return command.error(`error: ${command.name()} takes one of --merchant, --client and --token`);
  return { kind: kind as Blocked["kind"], name };
}

function defineBlocks(program: Command, run: RunWork): void {
  withBlockTarget(program.command("block").description("refuse calls, at every server within a second"))
    .addOption(
      new Option("--until <date>", "a day or a time; without it, until unblock").argParser(futureDate),
    )
    .addOption(reasonOption())
    .action(async (options: BlockTarget & { reason: string; until?: Date }, command: Command) => {
      const blocked = readBlocked(options, command);
      const { reason, until = null } = options;
      await run(async ({ store, output }) => {
        await store.block({ ...blocked, reason, until });
        const end = until ? ` until ${until.toISOString()}` : "";
        output.print(`${blocked.kind} ${blocked.name}: blocked${end}, at every server within a second`);
        return true;
      });
    });
  withBlockTarget(program.command("unblock").description("end a block")).action(
    async (options: BlockTarget, command: Command) => {
      const blocked = readBlocked(options, command);
      await run(async ({ store, output }) => {
        const wasBlocked = await store.unblock(blocked);
        const outcome = wasBlocked ? "unblocked" : "there is no such block";
        output.print(`${blocked.kind} ${blocked.name}: ${outcome}`);
        return wasBlocked;
      });
    },
  );
  program
    .command("blocks")
    .description("list what is blocked now, oldest first")
    .action(() =>
      run(async ({ store, output }) => {
        const rows = (await store.listBlocks()).map(({ kind, name, reason, blockedAt, until }) => {
          return [kind, name, blockedAt.toISOString(), until?.toISOString() ?? null, reason];
        });
        printTable(output, ["what", "name", "blocked", "until", "reason"], rows);
        return true;
      }),
    );
}

const ALL = "all merchants";

const withHoldTarget = (command: Command) =>
  command.option("--merchant <merchant>", "", notEmpty).option("--all", ALL, false);

/** Whose refunds; undefined for those of all merchants. */
function readHeld({ merchant, all }: { merchant?: string; all: boolean }, command: Command) {
  if (all === (merchant !== undefined))
    command.error(`error: ${command.name()} takes either --merchant or --all`);
  return merchant;
}

function defineHolds(program: Command, run: RunWork): void {
  const hold = program
    .command("hold")
    .description(
      "authorize no refund of a merchant, or of anybody, until it is released, and refuse new ones that would be",
    );
  withHoldTarget(hold)
    .addOption(reasonOption())
    .action(async (options: { merchant?: string; all: boolean; reason: string }, command: Command) => {
      const merchant = readHeld(options, command);
      await run((context) => holdRefunds(context, merchant, options.reason));
    });
  const release = program
    .command("release")
    .description("end a hold; refunds that have fallen due meanwhile are authorized within seconds");
  withHoldTarget(release).action(async (options: { merchant?: string; all: boolean }, command: Command) => {
    const merchant = readHeld(options, command);
    await run(async ({ store, output }) => {
      const released = await store.release({ merchant });
      const left = (await store.listHolds()).map((hold) => hold.merchant ?? ALL);
      if (left.length > 0) output.complain(`Still held: ${left.join(", ")}`);
      output.print(`${merchant ?? ALL}: ${released ? "released" : "there is no such hold"}`);
      return released;
    });
  });
  program
    .command("holds")
    .description("list what is held, oldest first")
    .action(() =>
      run(async ({ store, output }) => {
        const rows = (await store.listHolds()).map(({ merchant, heldAt, reason }) => {
          return [merchant ?? ALL, heldAt.toISOString(), reason];
        });
        printTable(output, ["merchant", "held", "reason"], rows);
        return true;
      }),
    );
}

const STANDS = "the hold stands, but sessions that began before may still authorize refunds";

/** @returns whether no refund can become AUTHORIZED any more; false when the operator interrupts before */
async function holdRefunds(
  { database, store, output, signal }: AdminContext,
  merchant: string | undefined,
  reason: string,
): Promise<boolean> {
  const isNew = await store.hold({ merchant, reason });
  const onWaiting = (pids: readonly number[]) => {
    // On a cluster they may all be on workers.
    const which = pids.length > 0 ? ` (${pids.join(", ")} in pg_stat_activity)` : "";
    output.complain(`Waiting: ${STANDS}${which}.`);
  };
  if (!(await untilHeld(database.db, { signal, onWaiting }))) {
    output.complain(`Interrupted: ${STANDS}. Run it again to wait for them.`);
    return false;
  }
  output.print(
    `${merchant ?? ALL}: ${isNew ? "held" : "was held already"}; refunds that wait stay PENDING, and new ones of settled payments are refused, until they are released`,
  );
  return true;
}
