import { type SandboxSchemas, sandbox, useCall, useLoaded } from "../parts/api.ts";
import { ProblemText } from "../parts/parts.tsx";

type Restrictions = SandboxSchemas["Restrictions"];

const readRestrictions = () => sandbox.GET("/sandbox/restrictions");
const useRestrictions = () => useLoaded("restrictions", ["payments"], readRestrictions);

/** On every view: says that the merchant is blocked or its refunds are held. */
export function RestrictionsNotice() {
  const { data } = useRestrictions();
  const notes = [
    ...(data?.blocked ? ["Blocked: API calls get 401."] : []),
    ...(data?.held ? ["Held: refunds stay PENDING."] : []),
  ];
  if (notes.length === 0) return null;
  return (
    <p role="status" class="row">
      {notes.map((note) => (
        <a key={note} href="#/access" class="chip">
          {note}
        </a>
      ))}
    </p>
  );
}

/** Blocks the merchant and holds its refunds, as operators do in production. */
export function RestrictionsForm() {
  const { data } = useRestrictions();
  const { problem, busy, run } = useCall();
  if (!data) return null;
  const set = (change: Partial<Restrictions>) =>
    run(() => sandbox.POST("/sandbox/restrictions", { body: { ...data, ...change } }));
  const box = (name: keyof Restrictions, label: string) => (
    <label class="inline">
      <input
        type="checkbox"
        checked={data[name]}
        disabled={busy}
        onChange={() => set({ [name]: !data[name] })}
      />
      {label}
    </label>
  );
  return (
    <div class="card">
      <fieldset class="row">
        <legend>In production, operators can do this to a merchant</legend>
        {box("blocked", "Block API calls")}
        {box("held", "Hold refunds that fall due")}
      </fieldset>
      <ProblemText problem={problem} />
    </div>
  );
}
