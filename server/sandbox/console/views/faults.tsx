import { Action, Code, Empty, Id, PageHead, ProblemText, RealTime, toHash } from "../ui/elements.tsx";
import { count } from "../ui/format-values.ts";
import { Form } from "../ui/request-form.tsx";
import { type SandboxSchemas, sandbox, useLoaded } from "../ui/sandbox-api.ts";

/** Arms faults of calls and of deliveries, and shows what each has done. */
export function Faults() {
  const { data, problem } = useLoaded("faults", ["requests", "webhooks"], () =>
    sandbox.GET("/sandbox/faults"),
  );
  const faults = data?.items ?? [];
  return (
    <section>
      <PageHead title="Faults">
        {faults.length > 0 && <Action call={() => sandbox.DELETE("/sandbox/faults")}>Clear all</Action>}
      </PageHead>
      <p class="quiet">
        A fault makes your next calls or deliveries go wrong. Arm one, run your program, and see below what
        happened.
      </p>
      <div class="card">
        <Form
          form="NewFault"
          submit="Arm"
          fields={FIELDS}
          send={(body) => sandbox.POST("/sandbox/faults", { body: body as SandboxSchemas["NewFault"] })}
        />
      </div>
      <h2>Armed and used</h2>
      <ProblemText problem={problem} />
      {data && faults.length === 0 && <Empty>No faults. The sandbox works as it should.</Empty>}
      {faults.map((fault) => (
        <ArmedFault key={fault.faultId} fault={fault} />
      ))}
    </section>
  );
}

type Fault = SandboxSchemas["Fault"];
type Hit = SandboxSchemas["FaultHit"];

const FIELDS = [
  { at: "/kind", label: "What goes wrong" },
  { at: "/times", label: "How many times", empty: "once" },
  { at: "/operation", label: "Only this operation", empty: "any" },
  { at: "/requestKey", label: "Only this requestKey" },
  { at: "/retryAfter", label: "retryAfter, in seconds", hint: "for UNAVAILABLE and RATE_LIMITED" },
  { at: "/delayMs", label: "delayMs", hint: "for SLOW" },
  { at: "/hours", label: "hours", hint: "for LATE, of the sandbox's clock" },
];

function ArmedFault({ fault }: { fault: Fault }) {
  const { kind, remaining, operation, requestKey, retryAfter, delayMs, hours, hits } = fault;
  const settings = [
    operation,
    requestKey !== null && `requestKey ${requestKey}`,
    retryAfter !== null && `Retry-After ${retryAfter}`,
    delayMs !== null && `${delayMs} ms`,
    hours !== null && count(hours, "hour"),
  ].filter((text) => typeof text === "string");
  return (
    <article class="card fault">
      <p class="row lead">
        <strong>{kind}</strong>
        <span class="quiet">{settings.join(", ")}</span>
        <span class="chip">{remaining > 0 ? `${remaining} to come` : "used up"}</span>
      </p>
      {hits.length === 0 ? (
        <p class="quiet">Not used yet.</p>
      ) : (
        <ul class="hits">
          {hits.map((hit) => (
            <li key={`${hit.at}${hit.requestId ?? hit.webhookId}`} class="row">
              <Where hit={hit} />
              <Statuses of={hit.statuses} />
              <RealTime at={hit.at} />
            </li>
          ))}
        </ul>
      )}
    </article>
  );
}

function Where({ hit: { requestId, webhookId } }: { hit: Hit }) {
  if (webhookId !== null) return <Id view="deliveries" id={webhookId} />;
  return <a href={toHash("requests", requestId ?? "")}>the request</a>;
}

/** The statuses that came back. */
function Statuses({ of }: { of: Hit["statuses"] }) {
  if (of.length === 0) return <span class="quiet">nothing was sent</span>;
  return [...new Set(of)].map((status) => <Code key={status} status={status} />);
}
