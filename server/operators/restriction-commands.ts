import { type Command, Option } from "commander";
import { type Bound, bindAll } from "../storage/acts.ts";
import { type Blocked, block, listBlocks, unblock } from "../storage/blocks.ts";
import { hold, listHolds, release, untilHeld } from "../storage/payments/holds.ts";
import type { AdminContext, RunWork } from "./context.ts";
import { futureDate, notEmpty } from "./context.ts";
import { type Cell, printTable } from "./output.ts";

const FUNCTIONS = { block, hold, listBlocks, listHolds, release, unblock, untilHeld };

type Parts = { readonly store: Bound<typeof FUNCTIONS> } & Pick<AdminContext, "output" | "signal">;

/** Whom a restriction concerns: the name of the one option that was given, such as `merchant`, and its value. */
type Target = { readonly kind: string; readonly name: string };

type Reason = { readonly reason: string; readonly until?: Date };

/** Something that an operator puts in force with a reason, ends and lists: a block of calls, or a hold of refunds. */
type Restriction = {
  readonly begin: readonly [name: string, description: string];
  readonly end: readonly [name: string, description: string];
  readonly list: readonly [name: string, description: string];
  /** Exactly one must be given: a mistake would restrict too much or too little. */
  readonly targets: readonly Option[];
  /** Further options of `begin`. */
  readonly more: readonly Option[];
  readonly nameOf: (target: Target) => string;
  /** Resolves with what to say about the target, or with undefined when the operator has interrupted. */
  readonly put: (parts: Parts, target: Target, reason: Reason) => Promise<string | undefined>;
  /** Resolves with whether it was in force. */
  readonly lift: (parts: Parts, target: Target) => Promise<boolean>;
  readonly lifted: string;
  readonly missing: string;
  readonly headings: readonly string[];
  readonly rows: (store: Parts["store"]) => Promise<Cell[][]>;
};

const target = (flags: string, description?: string) => new Option(flags, description).argParser(notEmpty);

/** They refuse the calls of a merchant, of a client of the issuer, or with one access token. */
const BLOCKS: Restriction = {
  begin: ["block", "refuse calls, at every server within a second"],
  end: ["unblock", "end a block"],
  list: ["blocks", "list what is blocked now, oldest first"],
  targets: [
    target("--merchant <merchant>", "all calls of a merchant"),
    target("--client <client_id>", "all calls of a client of the issuer"),
    target("--token <jti>", "all calls with one access token"),
  ],
  more: [new Option("--until <date>", "a day or a time; without it, until unblock").argParser(futureDate)],
  nameOf: ({ kind, name }) => `${kind} ${name}`,
  async put({ store }, target, { reason, until = null }) {
    await store.block({ ...(target as Blocked), reason, until }); // the kinds are its options
    return `blocked${until ? ` until ${until.toISOString()}` : ""}, at every server within a second`;
  },
  lift: ({ store }, target) => store.unblock(target as Blocked),
  lifted: "unblocked",
  missing: "there is no such block",
  headings: ["what", "name", "blocked", "until", "reason"],
  rows: async (store) =>
    (await store.listBlocks()).map(({ kind, name, reason, blockedAt, until }) => [
      ...[kind, name, blockedAt.toISOString()],
      ...[until?.toISOString() ?? null, reason],
    ]),
};

const ALL = "all merchants";

const STANDS = "the hold stands, but sessions that began before may still authorize refunds";

/** They keep refunds from being authorized for now. */
const HOLDS: Restriction = {
  begin: [
    "hold",
    "authorize no refund of a merchant, or of anybody, until it is released, and refuse new ones that would be",
  ],
  end: ["release", "end a hold; refunds that have fallen due meanwhile are authorized within seconds"],
  list: ["holds", "list what is held, oldest first"],
  targets: [target("--merchant <merchant>"), new Option("--all", ALL).default(false)],
  more: [],
  nameOf: (target) => toMerchant(target) ?? ALL,
  async put({ store, output, signal }, target, { reason }) {
    const held = await store.hold({ merchant: toMerchant(target), reason });
    const onWaiting = (pids: readonly number[]) => {
      // On a cluster they may all be on workers.
      const which = pids.length > 0 ? ` (${pids.join(", ")} in pg_stat_activity)` : "";
      output.complain(`Waiting: ${STANDS}${which}.`);
    };
    // From then on, no refund can become AUTHORIZED any more.
    if (!(await store.untilHeld({ signal, onWaiting }))) {
      output.complain(`Interrupted: ${STANDS}. Run it again to wait for them.`);
      return undefined;
    }
    return `${held ? "held" : "was held already"}; refunds that wait stay PENDING, and new ones of settled payments are refused, until they are released`;
  },
  async lift({ store, output }, target) {
    const released = await store.release({ merchant: toMerchant(target) });
    const left = (await store.listHolds()).map(({ merchant = ALL }) => merchant);
    if (left.length > 0) output.complain(`Still held: ${left.join(", ")}`);
    return released;
  },
  lifted: "released",
  missing: "there is no such hold",
  headings: ["merchant", "held", "reason"],
  rows: async (store) =>
    (await store.listHolds()).map(({ merchant = ALL, heldAt, reason }) => [
      merchant,
      heldAt.toISOString(),
      reason,
    ]),
};

function toMerchant({ kind, name }: Target): string | undefined {
  return kind === "merchant" ? name : undefined;
}

/** Defines the commands that begin, end and list blocks of calls and holds of refunds. */
export function defineRestrictions(program: Command, run: RunWork): void {
  for (const restriction of [BLOCKS, HOLDS]) define(program, run, restriction);
}

function define(program: Command, run: RunWork, restriction: Restriction): void {
  const { begin, end, list, targets, more, nameOf } = restriction;
  const addCommand = ([name, description]: Restriction["begin"], options: readonly Option[]) => {
    const command = program.command(name).description(description);
    for (const option of options) command.addOption(option);
    return command;
  };
  const reason = new Option("--reason <text>").makeOptionMandatory().argParser(notEmpty);
  addCommand(begin, [...targets, ...more, reason]).action(async (given: Reason, command: Command) => {
    const target = readTarget(command, targets);
    await run(async (context) => {
      const parts = open(context);
      const said = await restriction.put(parts, target, given);
      if (said !== undefined) parts.output.print(`${nameOf(target)}: ${said}`);
      return said !== undefined;
    });
  });
  addCommand(end, targets).action(async (_given: object, command: Command) => {
    const target = readTarget(command, targets);
    await run(async (context) => {
      const parts = open(context);
      const wasInForce = await restriction.lift(parts, target);
      parts.output.print(`${nameOf(target)}: ${wasInForce ? restriction.lifted : restriction.missing}`);
      return wasInForce;
    });
  });
  addCommand(list, []).action(() =>
    run(async (context) => {
      const { store, output } = open(context);
      printTable(output, restriction.headings, await restriction.rows(store));
      return true;
    }),
  );
}

function readTarget(command: Command, targets: readonly Option[]): Target {
  const [given, another] = targets.flatMap((option) => {
    const value: unknown = command.getOptionValue(option.attributeName());
    return value ? { kind: option.attributeName(), name: String(value) } : [];
  });
  if (given && !another) return given;
  const flags = targets.map(({ long }) => long);
  const choice =
    flags.length === 2
      ? `either ${flags.join(" or ")}`
      : `one of ${flags.slice(0, -1).join(", ")} and ${flags.at(-1)}`;
  return command.error(`error: ${command.name()} takes ${choice}`);
}

function open({ database, output, signal }: AdminContext): Parts {
  return { store: bindAll(database.db, FUNCTIONS), output, signal };
}
