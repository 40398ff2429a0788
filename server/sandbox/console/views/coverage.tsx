import { type SandboxSchemas, sandbox, useLoaded } from "../parts/api.ts";
import { Empty, PageHead, ProblemText } from "../parts/parts.tsx";

type Item = SandboxSchemas["CoverageItem"];

const LABELS: Readonly<Record<Item["kind"], string>> = {
  OPERATION: "Operations",
  STATUS: "Statuses",
  ERROR_CODE: "Error codes",
  FIELD: "Fields",
  EVENT: "Events",
  STATE: "States of refunds",
};

/** Which elements of the contract the merchant's calls and deliveries met. */
export function CoverageView() {
  const { data, problem } = useLoaded("coverage", ["requests", "webhooks", "inbox"], () =>
    sandbox.GET("/sandbox/coverage"),
  );
  return (
    <section>
      <PageHead title="Coverage" />
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
        </li>
      ))}
    </ul>
  );
}
