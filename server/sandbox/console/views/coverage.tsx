import { type SandboxSchemas, sandbox, useLoaded } from "../parts/api.ts";
import { Action, Empty, PageHead, ProblemText } from "../parts/parts.tsx";
import { recipeOf } from "./coverage-recipes.ts";

type Item = SandboxSchemas["CoverageItem"];

const LABELS: Readonly<Record<Item["kind"], string>> = {
  OPERATION: "Operations",
  STATUS: "Statuses",
  ERROR_CODE: "Error codes",
  FIELD: "Fields",
  EVENT: "Events",
  STATE: "States of refunds",
};

/** What a page can't do, and who can. */
const BY_HAND: Readonly<Record<string, string>> = {
  "408": "Send part of a body, then wait ten seconds.",
  REQUEST_TIMEOUT: "Send part of a body, then wait ten seconds.",
  "409": "Subscribe more than 100 times.",
  SUBSCRIPTION_LIMIT: "Subscribe more than 100 times.",
};

/** Which elements of the contract the merchant's calls and deliveries met, and how to meet the others. */
export function CoverageView() {
  const { data, problem } = useLoaded("coverage", ["requests", "webhooks", "inbox"], () =>
    sandbox.GET("/sandbox/coverage"),
  );
  return (
    <section>
      <PageHead title="Coverage">
        <Action call={() => sandbox.DELETE("/sandbox/coverage")}>Reset coverage</Action>
      </PageHead>
      <p class="quiet">
        How much of the contract your calls and deliveries have covered since the sandbox started. Calls from
        this page count, too.
      </p>
      <ProblemText problem={problem} />
      {data && (
        <>
          <p class="row lead">
            <strong>{data.percent} %</strong>
            <meter min={0} max={data.total} value={data.met} aria-label="Coverage" />
            <span>
              {data.met} of {data.total} elements
            </span>
          </p>
          {data.kinds.map(({ kind, met, total }) => (
            <details key={kind} class="fold" open={kind !== "FIELD" && met < total}>
              <summary>
                {LABELS[kind]}: {met} of {total}
              </summary>
              <div class="card">
                <Missing items={data.items.filter((item) => item.kind === kind && item.count === 0)} />
              </div>
            </details>
          ))}
        </>
      )}
    </section>
  );
}

function Missing({ items }: { items: readonly Item[] }) {
  if (items.length === 0) return <Empty>Everything is covered.</Empty>;
  return (
    <ul class="hits">
      {items.map((item) => (
        <li key={item.name} class="row">
          <code class="grow">{item.name}</code>
          <How item={item} />
        </li>
      ))}
    </ul>
  );
}

let last: Promise<unknown> = Promise.resolve();

/** One after the other: to meet 401, a recipe blocks the merchant for a moment, in which others would fail. */
function inTurn<Result>(recipe: () => Promise<Result>): Promise<Result> {
  const turn = last.then(recipe, recipe);
  last = turn;
  return turn;
}

function How({ item }: { item: Item }) {
  const recipe = recipeOf(item);
  if (!recipe) return <span class="quiet">{BY_HAND[item.name.split(" ").at(-1) ?? ""]}</span>;
  return (
    <Action call={() => inTurn(recipe)} name={`Produce ${item.name}`}>
      Produce
    </Action>
  );
}
