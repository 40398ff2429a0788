import { type Command, Option } from "commander";
import { type Block, type Blocked, block, listBlocks, unblock } from "../storage/blocks.ts";
import { hasPayments } from "../storage/payments/payment-queries.ts";
import { type Bound, bindStore } from "../storage/storage.ts";
import type { AdminContext, RunWork } from "./context.ts";
import { futureDate, notEmpty } from "./options.ts";
import { complainOfUnknown, type Output, toTable } from "./output.ts";

type Choice = { merchant?: string; client?: string; token?: string };

/** Defines the commands that refuse the calls of a merchant, of a client, or with one access token. */
export function defineBlocks(program: Command, run: RunWork): void {
  const choose = (command: Command) =>
    command
      .addOption(new Option("--merchant <merchant>", "all calls of a merchant").argParser(notEmpty))
      .addOption(
        new Option("--client <client_id>", "all calls of a client of the issuer").argParser(notEmpty),
      )
      .addOption(new Option("--token <jti>", "all calls with one access token").argParser(notEmpty));
  choose(program.command("block"))
    .addOption(
      new Option("--until <date>", "a day or a time; without it, until unblock").argParser(futureDate),
    )
    .addOption(new Option("--reason <text>").makeOptionMandatory().argParser(notEmpty))
    .description("refuse calls, at every server within a second")
    .action(async (choice: Choice & { until?: Date; reason: string }, command: Command) => {
      const { reason, until = null } = choice;
      const blocked = { ...toBlocked(choice, command), reason, until };
      await run((context) => blockCalls(open(context), blocked));
    });
  choose(program.command("unblock"))
    .description("end a block")
    .action(async (choice: Choice, command: Command) => {
      const blocked = toBlocked(choice, command);
      await run((context) => unblockCalls(open(context), blocked));
    });
  program
    .command("blocks")
    .description("list what is blocked now, oldest first")
    .action(() => run((context) => printBlocks(open(context))));
}

/** Exactly one of the three: with two, it would not be clear whether calls must match one or both. */
function toBlocked({ merchant, client, token }: Choice, command: Command): Blocked {
  const [blocked, another] = Object.entries({ merchant, client, token }).flatMap(([kind, name]) =>
    name === undefined ? [] : { kind: kind as Blocked["kind"], name },
  );
  if (blocked && !another) return blocked;
  return command.error(`error: ${command.name()} takes one of --merchant, --client and --token`);
}

const FUNCTIONS = { block, hasPayments, listBlocks, unblock };

type Parts = { store: Bound<typeof FUNCTIONS>; output: Output };

function open({ database, output }: AdminContext): Parts {
  return { store: bindStore(database.db, FUNCTIONS), output };
}

async function blockCalls({ store, output }: Parts, blocked: Omit<Block, "blockedAt">): Promise<boolean> {
  await store.block(blocked);
  const { kind, name } = blocked;
  if (kind === "merchant" && !(await store.hasPayments({ merchant: name }))) complainOfUnknown(name, output);
  const until = blocked.until ? ` until ${blocked.until.toISOString()}` : "";
  output.print(`${blocked.kind} ${blocked.name}: blocked${until}, at every server within a second`);
  return true;
}

/** @returns whether there was such a block */
async function unblockCalls({ store, output }: Parts, blocked: Blocked): Promise<boolean> {
  const ended = await store.unblock(blocked);
  output.print(`${blocked.kind} ${blocked.name}: ${ended ? "unblocked" : "there is no such block"}`);
  return ended;
}

async function printBlocks({ store, output }: Parts): Promise<boolean> {
  const blocks = await store.listBlocks();
  const rows = blocks.map(({ kind, name, reason, blockedAt, until }) => [
    kind,
    name,
    blockedAt.toISOString(),
    until?.toISOString() ?? null,
    reason,
  ]);
  if (rows.length === 0) output.print("None.");
  else for (const line of toTable(["what", "name", "blocked", "until", "reason"], rows)) output.print(line);
  return true;
}
