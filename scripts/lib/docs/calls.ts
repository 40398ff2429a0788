import { follow, type Json } from "./json.ts";
import { PAYMENTS, PREPARATIONS } from "./preparations.ts";
import type { Call } from "./samples.ts";

type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly example?: unknown;
};

/** A call of each operation of a contract, with the values of its first examples, that succeeds on a fresh sandbox. */
export function callsOf(document: Json): (Call & { readonly path: string })[] {
  const { url: base } = (document.servers as { url: string }[])[0] ?? { url: "" };
  return Object.entries(document.paths as Record<string, Json>).flatMap(([path, item]) => {
    const { parameters: shared = [], ...operations } = item as { parameters?: Json[] } & Json;
    return Object.entries(operations).map(([method, operation]) => {
      const {
        operationId,
        parameters = [],
        requestBody,
      } = operation as {
        operationId: string;
        parameters?: Json[];
        requestBody?: Json;
      };
      const known = [...shared, ...parameters].map((part) => follow(document, part) as unknown as Parameter);
      const before = PREPARATIONS[operationId];
      const taken = before?.map(({ take }) => take?.name);
      const filled = path.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
        if (taken?.includes(name)) return whole;
        return (name === "paymentId" && PAYMENTS[operationId]) || exampleOf(known, name);
      });
      return {
        operationId,
        method: method.toUpperCase(),
        path,
        url: base + filled,
        body: bodyOf(document, requestBody),
        ...(before && { before }),
      };
    });
  });
}

function exampleOf(parameters: readonly Parameter[], name: string): string {
  const example = parameters.find((parameter) => parameter.in === "path" && parameter.name === name)?.example;
  if (typeof example !== "string") throw new Error(`The parameter ${name} has no example.`);
  return encodeURIComponent(example);
}

function bodyOf(document: Json, requestBody: Json | undefined): unknown {
  if (!requestBody) return undefined;
  const [media] = Object.values(follow(document, requestBody).content as Record<string, { examples: Json }>);
  const [example] = Object.values(media?.examples ?? {});
  return follow(document, example).value;
}
