import { useState } from "preact/hooks";
import { type Problem, type SandboxSchemas, sandbox, useLoaded } from "../data/api.ts";
import { ProblemText } from "../parts/parts.tsx";

type Restrictions = SandboxSchemas["Restrictions"];

const readRestrictions = () => sandbox.GET("/sandbox/restrictions");
const useRestrictions = () => useLoaded("restrictions", ["payments"], readRestrictions);

/** On every view: says that the merchant is blocked or its refunds are held. */
export function RestrictionsNotice() {
  const { data } = useRestrictions();
  const notes = [
    ...(data?.blocked ? ["Blocked: published calls get 401."] : []),
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
  const [problem, setProblem] = useState<Problem>();
  if (!data) return null;
  const set = async (change: Partial<Restrictions>) => {
    const { error } = await sandbox.POST("/sandbox/restrictions", { body: { ...data, ...change } });
    setProblem(error as Problem | undefined);
  };
  const box = (name: keyof Restrictions, label: string) => (
    <label class="inline">
      <input type="checkbox" checked={data[name]} onChange={() => set({ [name]: !data[name] })} />
      {label}
    </label>
  );
  return (
    <fieldset class="row card">
      <legend>What operators can do</legend>
      {box("blocked", "Block published calls")}
      {box("held", "Hold what falls due")}
      <ProblemText problem={problem} />
    </fieldset>
  );
}
