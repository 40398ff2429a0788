import { METHODS } from "./operations.ts";

/**
 * A readable name for the element at a path of a contract: `RefundRequest.amount`, `POST /v1/refunds body`, `event
 * refund.pending.data`. Steps that mean nothing to a reader are left out.
 */
export function locationName(path: readonly string[]): string {
  const [first = "", second = "", third = ""] = path;
  if (first === "paths") {
    const method = METHODS.includes(third) ? `${third.toUpperCase()} ` : "";
    return `${method}${second}${partsOf(path.slice(3))}`;
  }
  if (first === "webhooks") return `event ${second}${partsOf(path.slice(3))}`;
  if (first !== "components") return path.join(".");
  const kind = { responses: "response ", headers: "header ", parameters: "header " }[second] ?? "";
  return `${kind}${third}${partsOf(path.slice(3))}`;
}

function partsOf(path: readonly string[]): string {
  let name = "";
  for (const [index, part] of path.entries()) {
    const holder = path[index - 1];
    if (holder === "properties") name += `.${part}`;
    else if (holder === "responses") name += ` ${part}`;
    else if (holder === "headers") name += ` header ${part}`;
    else if (part === "items") name += "[]";
    else if (part === "requestBody" && index === path.length - 1) name += " body";
    else if (part.startsWith("=")) name += ` ${part.slice(1)}`;
    else if (holder === "x-transitions") name += ` transition ${Number(part) + 1}`;
  }
  return name;
}
