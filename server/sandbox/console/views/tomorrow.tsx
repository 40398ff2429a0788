import { sandbox, useCall, useLoaded } from "../parts/api.ts";
import { ProblemText } from "../parts/parts.tsx";

const readTomorrow = () => sandbox.GET("/sandbox/tomorrow");
const useTomorrow = () => useLoaded("tomorrow", ["requests"], readTomorrow);

const KINDS = {
  MEMBER: "field of an event",
  VALUE: "value of a list",
  EVENT: "event",
  HEADER: "header of responses",
  REQUEST_FIELD: "optional field of a request",
} as const;

/** On every view: says that the merchant gets a later version, and from which seed. */
export function TomorrowNotice() {
  const { data } = useTomorrow();
  if (!data?.on) return null;
  return (
    <p role="status" class="row">
      <a href="#/access" class="chip">
        Tomorrow's API is on, with seed {data.seed}.
      </a>
    </p>
  );
}

/** Switches a later version of the contract on and off, and lists what it adds. */
export function TomorrowForm() {
  const { data } = useTomorrow();
  const { problem, busy, run } = useCall();
  if (!data) return null;
  const set = (on: boolean) => run(() => sandbox.POST("/sandbox/tomorrow", { body: { on } }));
  // Every response has the same header, so that it is listed once.
  const additions = new Map(
    data.additions.map((addition) => [`${addition.kind} ${addition.name}`, addition]),
  );
  return (
    <div class="card">
      <fieldset class="row">
        <legend>Get every change that a later version may make under /v1</legend>
        <label class="inline">
          <input type="checkbox" checked={data.on} disabled={busy} onChange={() => set(!data.on)} />
          Use tomorrow's API
        </label>
      </fieldset>
      {data.on && (
        <details>
          <summary>
            Added with seed {data.seed} ({additions.size})
          </summary>
          <ul>
            {[...additions].map(([key, { kind, name, pointer }]) => (
              <li key={key}>
                <code>{name}</code>: {KINDS[kind]}
                {kind === "HEADER" ? "" : <span class="quiet"> at {pointer}</span>}
              </li>
            ))}
          </ul>
        </details>
      )}
      <ProblemText problem={problem} />
    </div>
  );
}
