import { useState } from "preact/hooks";
import { constraintsOf, type FormName } from "./form-constraints.ts";

/**
 * Chooses a variant of an object, and the items of its list. The value of `/subscriptionDetails` is, for example, `{"type":
 * "CATEGORY", "details": ["PAYMENT", "ACCOUNT"]}`.
 */
export function Variants({
  form,
  at,
  label,
  error,
}: {
  form: FormName;
  at: string;
  label: string;
  error: string | undefined;
}) {
  const { enum: options = [] } = constraintsOf(form, `${at}/type`);
  const { choices = {} } = constraintsOf(form, `${at}/details`);
  const listOf = (variant: string) => choices[variant] ?? [];
  const [variant, setVariant] = useState(options.find((option) => listOf(option).length === 0) ?? "");
  const id = `${form}${at}`;
  const list = listOf(variant);
  return (
    <div class={list.length > 0 ? "field variants" : "field"}>
      <label for={id}>{label}</label>
      <select
        id={id}
        name={`${at}/type`}
        value={variant}
        onChange={(event) => setVariant(event.currentTarget.value)}
      >
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
      {list.length > 0 && (
        <fieldset class="row choices" aria-describedby={error && `${id}-error`} key={variant}>
          <legend class="hint">One or more of</legend>
          {list.map((choice) => (
            <label key={choice} class="inline">
              <input type="checkbox" name={`${at}/details`} value={choice} />
              {choice}
            </label>
          ))}
        </fieldset>
      )}
      {error && (
        <span class="error" id={`${id}-error`}>
          {error}
        </span>
      )}
    </div>
  );
}
