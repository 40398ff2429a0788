import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { isWithin, stepsOf } from "../../../../openapi/document/pointer.ts";
import { ProblemText } from "./elements.tsx";
import { constraintsOf, type FormName, isVariant } from "./form-constraints.ts";
import { type Problem, type Result, useCall } from "./sandbox-api.ts";
import { Variants } from "./variant-field.tsx";

/** The form of a request. The server validates it, so an invalid request is sent like any other. */
export function Form({ form, fields, submit, send }: FormProps) {
  const { problem, busy, run } = useCall();
  const [sent, setSent] = useState(0);
  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault();
    const element = event.currentTarget as HTMLFormElement;
    const { error } = await run(() => send(toBody(form, element)));
    if (error) return focusFirst(element, error as Problem);
    element.reset();
    setSent((before) => before + 1);
  };
  const others = problem?.violations?.filter(
    ({ pointer }) => !fields.some(({ at }) => isWithin(pointer, at)),
  );
  // A violation that is shown at its field is not repeated below the form.
  const rest = problem?.violations && others ? { ...problem, violations: others } : problem;
  return (
    <form onSubmit={onSubmit} noValidate class="form">
      {fields.map((field) => (
        <Field key={`${field.at}${sent}`} form={form} field={field} problem={problem} />
      ))}
      <div class="row submit">
        <button type="submit" class="primary" disabled={busy}>
          {submit}
        </button>
      </div>
      <ProblemText problem={rest} />
    </form>
  );
}

/** A field of a request, by the JSON Pointer at which it stands in the body. */
export type FieldOf = {
  at: string;
  label: string;
  value?: string | undefined;
  /** Explains what an empty field means; the contract says whether it may be empty. */
  empty?: string;
  /** Makes a value for each new request; a request that is repeated keeps it. */
  fresh?: { label: string; make: () => string };
  hint?: string;
};

type FormProps = {
  /** The schema of the contract whose constraints apply to the fields. */
  form: FormName;
  fields: readonly FieldOf[];
  submit: string;
  send: (body: object) => Promise<Result<unknown>>;
};

const NUMERIC = ["number", "integer"];

function Field({
  form,
  field,
  problem,
}: Pick<FormProps, "form"> & { field: FieldOf; problem: Problem | undefined }) {
  const { at, label, value = "", empty, fresh } = field;
  const [made, setMade] = useState(fresh?.make);
  const constraints = constraintsOf(form, at);
  const error = problem?.violations?.find(({ pointer }) => isWithin(pointer, at))?.message;
  const hint = [constraints.hint, field.hint].filter(Boolean).join("; ");
  const id = `${form}${at}`;
  const described = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(" ");
  const attributes = {
    id,
    name: at,
    "aria-invalid": error ? ("true" as const) : undefined,
    "aria-describedby": described || undefined,
  };
  if (isVariant(form, at)) return <Variants form={form} at={at} label={label} error={error} />;
  const optional = empty ?? (constraints.required ? undefined : "optional");
  return (
    <div class="field">
      <label for={id}>
        {label}
        {optional && !constraints.enum && <span class="quiet"> ({optional})</span>}
      </label>
      {constraints.enum ? (
        <select {...attributes}>
          {!constraints.required && <option value="">{empty} (the default)</option>}
          {constraints.enum.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      ) : (
        <input
          key={made}
          {...attributes}
          autocomplete="off"
          spellcheck={false}
          defaultValue={made ?? value}
          inputMode={NUMERIC.includes(constraints.type) ? "decimal" : "text"}
          required={constraints.required && empty === undefined}
          pattern={constraints.pattern}
        />
      )}
      {fresh && (
        <button type="button" class="small" onClick={() => setMade(fresh.make())}>
          {fresh.label}
        </button>
      )}
      {error && (
        <span class="error" id={`${id}-error`}>
          {error}
        </span>
      )}
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}

/** Fields that are empty are left out, as optional ones are in the contract. */
function toBody(form: FormName, element: HTMLFormElement): object {
  const body: Record<string, unknown> = {};
  for (const [pointer, text] of new FormData(element)) {
    if (text === "") continue;
    const names = stepsOf(pointer);
    const last = names.pop() ?? "";
    let holder = body;
    for (const name of names) {
      holder[name] ??= {};
      holder = holder[name] as Record<string, unknown>;
    }
    // Anything but a number is sent as it was typed, so that the server reports it.
    const { type } = constraintsOf(form, pointer);
    const isNumber = NUMERIC.includes(type) && Number.isFinite(Number(text));
    if (type === "array") holder[last] = [...((holder[last] as unknown[]) ?? []), text];
    else holder[last] = isNumber ? Number(text) : text;
  }
  return body;
}

function focusFirst(element: HTMLFormElement, { violations = [] }: Problem): void {
  const names = violations.map(({ pointer }) => pointer);
  const input = [...element.elements].find((field) => names.includes((field as HTMLInputElement).name));
  (input as HTMLElement | undefined)?.focus();
}

/** A form that is opened in place by what looks like a button. */
export function Fold({
  label,
  open,
  children,
}: {
  label: string;
  open?: boolean;
  children: ComponentChildren;
}) {
  return (
    <details class="fold" open={open}>
      <summary>{label}</summary>
      <div class="card">{children}</div>
    </details>
  );
}
