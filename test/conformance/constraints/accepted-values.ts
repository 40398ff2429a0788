import { ofItems, ofLength, type Spot, toValue, type Value } from "./broken-values.ts";
import { beyond } from "./numbers.ts";
import { CHARACTER_SAMPLES, FILLERS, FORMAT_SAMPLES } from "./samples.ts";

/** Values at the limits of a constraint; those that another constraint forbids are filtered out later. */
export function acceptedValues(spot: Spot): Value[] {
  const { constraint, current } = spot;
  const bound = Number(constraint.value);
  switch (constraint.keyword) {
    case "type":
      return [toValue(current)];
    case "enum":
      return (constraint.value as unknown[]).map(toValue);
    case "const":
      return [toValue(constraint.value)];
    case "minLength":
      return FILLERS.map((filler) => ofLength("", bound, filler));
    case "maxLength":
      return FILLERS.map((filler) => ofLength(String(current), bound, filler));
    case "pattern":
      return CHARACTER_SAMPLES.map(([name, character]) => ({
        name: `with ${name}`,
        // The scheme of a URL restricts more than its format.
        json: JSON.stringify((constraint.holder.format === undefined ? character : "") + current + character),
      }));
    case "format":
      return (FORMAT_SAMPLES[String(constraint.value)]?.kept ?? []).map(toValue);
    case "minimum":
    case "maximum":
      return [{ name: "at the bound", json: beyond(constraint, 0n) }];
    case "exclusiveMinimum":
      return [{ name: "one step above the bound", json: beyond(constraint, 1n) }];
    case "exclusiveMaximum":
      return [{ name: "one step below the bound", json: beyond(constraint, -1n) }];
    case "x-fraction-digits":
      return [
        "1",
        ...Array.from({ length: bound }, (_digit, index) => `1.${"0".repeat(index + 1)}`),
        ...["1E+0", "0.1e1", `1${"0".repeat(bound)}e-${bound}`],
      ].map((json) => ({ name: json, json }));
    case "minItems":
    case "maxItems":
      return ofItems(spot, bound);
    default:
      return [];
  }
}
