import { createReadStream } from "node:fs";
import { addAbortSignal } from "node:stream";
import { Command, Option, type OutputConfiguration } from "commander";
import { ADMIN_COMMAND } from "../config/environment.ts";
import { bindAll } from "../storage/acts.ts";
import * as merchantData from "../storage/operators/merchant-data.ts";
import { grantRights } from "../storage/operators/rights.ts";
import { rotateSecrets } from "../storage/operators/rotate-secrets.ts";
import {
  DELIVERY_FILTERS,
  type DeliveryFilter,
  findDeliveries,
  findDeliveryMerchant,
  findSubscriptionMerchant,
  findSubscriptions,
} from "../storage/operators/webhook-lists.ts";
import { createEncryptionKeys, ownKey } from "../storage/webhooks/secrets.ts";
import { defineAudit } from "./audit-commands.ts";
import { defineCheck } from "./check-command.ts";
import {
  type AdminContext,
  limitOption,
  notEmpty,
  openClock,
  overlapOption,
  pastDate,
  REFERENCE_OPTION,
  type RunWork,
  readInput,
} from "./context.ts";
import { listDeliveries, redeliver, redeliverExhausted } from "./delivery-commands.ts";
import { defineDistribute } from "./distribute.ts";
import {
  eraseCustomer,
  eraseMerchant,
  type MerchantChoice,
  type MerchantDataOptions,
} from "./merchant-data.ts";
import { feedPayments } from "./payments.ts";
import { definePayouts } from "./payouts.ts";
import { defineRestrictions } from "./restriction-commands.ts";
import {
  disableSubscription,
  listSubscriptions,
  printRotation,
  rotateSecret,
} from "./subscription-commands.ts";

type Choice = { merchant?: string; subscription?: string };

/**
 * Defines the commands of `npm run admin` and their help. An invalid command line prints the error and the usage, and throws a
 * `CommanderError`.
 */
export function createProgram(run: RunWork, output: OutputConfiguration): Command {
  const program = new Command(ADMIN_COMMAND)
    .description("Works on the database in DATABASE_URL. No server has to run.")
    .addHelpText(
      "after",
      '\n"Going live" and "Runbook" in docs/operators say more. Exits with 1 when something was refused or failed,\nand with 2 when the command line is wrong.',
    )
    .configureHelp({ helpWidth: 120, sortSubcommands: false })
    .configureOutput(output)
    .showHelpAfterError()
    .showSuggestionAfterError(false)
    .exitOverride();
  defineMigrate(program, run);
  defineRights(program, run);
  defineDistribute(program, run);
  definePayments(program, run);
  definePayouts(program, run);
  defineDeliveries(program, run);
  defineSubscriptions(program, run);
  defineMerchantData(program, run);
  defineRestrictions(program, run);
  defineAudit(program, run);
  defineCheck(program, run);
  return program;
}

function defineMigrate(program: Command, run: RunWork): void {
  program
    .command("migrate")
    .description("update the tables to this release; needs a role that may create them")
    .action(() =>
      run(async ({ output }) => {
        // The database was migrated when it was opened.
        output.print("The tables are up to date.");
        return true;
      }),
    );
}

function defineRights(program: Command, run: RunWork): void {
  program
    .command("rights")
    .argument("[name]", "the word with which the names of the roles begin", "refunds")
    .description("give the roles of the guide the rights of this release; needs the role that migrates")
    .action((name: string) =>
      run(async ({ database: { db }, settings, output }) => {
        await grantRights(db, name, settings.retentionDays());
        output.print("The roles have their rights.");
        return true;
      }),
    );
}

function definePayments(program: Command, run: RunWork): void {
  program
    .command("payments")
    .argument("[file]", "standard input if left out")
    .description("import original payments, one JSON object per line")
    .action((file?: string) =>
      run(async (context) => {
        const { output, signal, report } = context;
        const input = readInput(context, file);
        return feedPayments({ ...(await openStore(context)), input, output, signal, report });
      }),
    );
}

function defineDeliveries(program: Command, run: RunWork): void {
  program
    .command("deliveries")
    .description("list deliveries of webhooks, newest first")
    .addOption(new Option("--state <state>").choices(DELIVERY_FILTERS).default("exhausted"))
    .option("--merchant <merchant>")
    .option("--subscription <subscriptionKey>")
    .addOption(limitOption())
    .action((options: Choice & { state: DeliveryFilter; limit: number }) =>
      run(async (context) => {
        const { state: filter, subscription: subscriptionKey, ...choice } = options;
        await listDeliveries(await openStore(context), { ...choice, filter, subscriptionKey });
        return true;
      }),
    );

  program
    .command("redeliver")
    .argument("[webhookIds...]")
    .description("send deliveries again, whatever their state")
    .option("--exhausted", "all exhausted deliveries", false)
    .option("--merchant <merchant>", "with --exhausted: of this merchant")
    .option("--subscription <subscriptionKey>", "with --exhausted: of this subscription")
    .action(async (webhookIds: string[], options: Choice & { exhausted: boolean }, command: Command) => {
      const { exhausted, merchant, subscription: subscriptionKey } = options;
      if (exhausted === webhookIds.length > 0)
        command.error("error: redeliver takes either webhookIds or --exhausted");
      await run(async (context) => {
        const parts = await openStore(context);
        if (!exhausted) return redeliver(parts, webhookIds);
        await redeliverExhausted(parts, { merchant, subscriptionKey });
        return true;
      });
    });
}

function defineSubscriptions(program: Command, run: RunWork): void {
  const subscriptions = program
    .command("subscriptions")
    .alias("subscription")
    .description("list live subscriptions, oldest first, or change one")
    .option("--merchant <merchant>")
    .addOption(limitOption())
    .action((options: { merchant?: string; limit: number }) =>
      run(async (context) => {
        await listSubscriptions(await openStore(context), options);
        return true;
      }),
    );

  subscriptions
    .command("disable")
    .argument("<subscriptionKey>")
    .description("end a subscription and its waiting deliveries")
    .action((subscriptionKey: string) =>
      run(async (context) => disableSubscription(await openStore(context), subscriptionKey)),
    );

  subscriptions
    .command("rotate-secret")
    .argument("<subscriptionKey>")
    .argument("[file]", "with the new secret; standard input if left out")
    .description("replace a secret; for a time, deliveries carry signatures of the old one, too")
    .addOption(overlapOption())
    .action((subscriptionKey: string, file: string | undefined, { overlap }: { overlap: number }) =>
      run(async (context) => {
        const { settings, signal, stdin } = context;
        const encryptionKeys = createEncryptionKeys(settings.requireEncryptionKeys().map(ownKey));
        const input = addAbortSignal(signal, file === undefined ? stdin : createReadStream(file));
        return rotateSecret(
          { ...(await openStore(context)), encryptionKeys, input },
          { subscriptionKey, overlapMs: overlap },
        );
      }),
    );

  program
    .command("rotate-key")
    .description("encrypt with the present key every secret that an earlier one has encrypted")
    .action(() =>
      run(async ({ database, settings, output }) => {
        const keys = createEncryptionKeys(settings.requireEncryptionKeys().map(ownKey));
        return printRotation(await rotateSecrets(database.db, keys), output);
      }),
    );
}

function defineMerchantData(program: Command, run: RunWork): void {
  const runOn = (work: (options: MerchantDataOptions) => Promise<boolean>) =>
    run(async ({ database, output, signal }) =>
      work({ store: bindAll(database.db, merchantData), output, signal }),
    );
  program
    .command("erase")
    .description(
      "erase a merchant's older data, or that of one customer; of payments, only the texts that the merchant wrote about customers",
    )
    .requiredOption("--merchant <merchant>")
    .addOption(
      new Option(
        "--before <date>",
        "a day, such as 2026-08-01, which begins at 00:00 UTC; or a time",
      ).argParser(pastDate),
    )
    .option(
      `${REFERENCE_OPTION} <reference>`,
      "a clientReferenceId, or the id of an account or a customer; it is recorded nowhere",
      notEmpty,
    )
    .action(
      async (
        choice: Partial<MerchantChoice> & { merchant: string; reference?: string },
        command: Command,
      ) => {
        const { merchant, before, reference } = choice;
        if (before && reference === undefined) {
          await runOn((options) => eraseMerchant(options, { merchant, before }));
        } else if (!before && reference !== undefined) {
          await runOn((options) => eraseCustomer(options, { merchant, reference }));
        } else command.error("error: erase takes either --before or --reference");
      },
    );
}

/** The store's functions for operators, and the domain's time. */
async function openStore(context: AdminContext) {
  const store = {
    ...context.store,
    ...bindAll(context.database.db, {
      findDeliveries,
      findDeliveryMerchant,
      findSubscriptions,
      findSubscriptionMerchant,
    }),
  };
  return { store, output: context.output, now: await openClock(context) };
}
