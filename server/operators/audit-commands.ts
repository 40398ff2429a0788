import { type Command, InvalidArgumentError, Option } from "commander";
import { type AdminContext, limitOption, type RunWork } from "./command-context.ts";
import { count, printTable } from "./command-output.ts";
import {
  findRecordOwners,
  type Link,
  listAdminActions,
  listChangesByHand,
  type RecordEntry,
  verifyChain,
} from "./statements/audit-record.ts";

/** Defines the commands that show and verify the record of what operators did. */
export function defineAudit(program: Command, run: RunWork): void {
  const audit = program
    .command("audit")
    .description("list what operators did, newest first")
    .addOption(limitOption())
    .action(({ limit }: { limit: number }) =>
      run(async ({ database: { db }, output }) => {
        const changes = (await listChangesByHand(db, limit)).map(({ at, operator, change }) => {
          return [null, at, operator, null, null, "without a command", change];
        });
        const actions = (await listAdminActions(db, limit)).map(toCells);
        printTable(output, HEADINGS, [...changes, ...actions]);
        return true;
      }),
    );
  audit
    .command("verify")
    .description("find what was changed or removed in the record of what operators did; print its head")
    .addOption(
      new Option("--head <number:hash>", "a head that was printed before, and kept elsewhere").argParser(
        toLink,
      ),
    )
    .action(({ head }: { head?: Link }) => run((context) => verifyAudit(context, head)));
}

const HEADINGS = ["number", "at", "operator", "address", "note", "outcome", "command"];

function toCells({ number, at, operator, address, note, outcome, command }: RecordEntry) {
  return [number, at, operator, address, note, outcome, command?.join(" ") ?? null];
}

const OWNERS = "can log in and write the record anew: see “Roles of the database” in the guide “Going live”.";

/** How many changes without a command are named. */
const MAX_CHANGES = 1_000;

/** @returns whether the record is as it was written */
async function verifyAudit({ database: { db }, output }: AdminContext, kept: Link | undefined) {
  let errors = 0;
  const head = await verifyChain(db, {
    kept,
    onError(error) {
      errors += 1;
      output.print(error);
    },
  });
  for (const { at, operator, change } of await listChangesByHand(db, MAX_CHANGES)) {
    errors += 1;
    output.print(`${at}: ${operator} changed tables without a command: ${change}`);
  }
  const owners = await findRecordOwners(db);
  if (owners.length > 0) output.complain(`${owners.join(", ")} ${OWNERS}`);
  output.print(
    `${count(head.number, "row")}, ${errors === 0 ? "as they were written" : count(errors, "error")}`,
  );
  output.print(`head ${head.number}:${head.hash}`);
  return errors === 0;
}

function toLink(text: string): Link {
  const [, number, hash] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (number !== undefined && hash !== undefined) return { number: Number(number), hash };
  throw new InvalidArgumentError("It must be a head that audit verify has printed, such as 12:9f86d0….");
}
