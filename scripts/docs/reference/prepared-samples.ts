import type { Step } from "./calls.ts";

/** A call whose path names, in braces, the values from earlier steps. */
export type PreparedCall = {
  readonly base: string;
  readonly token: string;
  readonly before: readonly Step[];
  readonly last: Step;
};

/** The steps and then the call, by curl. */
export function preparedCurl({ base, token, before, last }: PreparedCall): string {
  const call = (step: Step) =>
    [
      ...(step.method === "GET" || step.body !== undefined ? [] : [`-X ${step.method}`]),
      `"${base}${step.path.replaceAll(/\{(\w+)\}/g, "$$$1")}"`,
      `-H 'Authorization: Bearer ${token}'`,
      ...(step.body === undefined ? [] : ["-H 'Content-Type: application/json'"]),
      "-H 'Accept: application/json'",
      ...(step.body === undefined ? [] : [`-d '${JSON.stringify(step.body, null, 2)}'`]),
    ].join(" \\\n  ");
  const steps = before.map((step) => {
    if (!step.take) return `curl -s -o /dev/null ${call(step)}`;
    const { name } = step.take;
    return `${name}=$(curl -s ${call(step)} |\n  sed 's/.*"${name}":"\\([^"]*\\)".*/\\1/')`;
  });
  return [...steps, `curl -i ${call(last)}`].join("\n\n");
}

/** The steps and then the call, by fetch. */
export function preparedFetch({ base, token, before, last }: PreparedCall): string {
  const call = (step: Step) => {
    const address = step.path.includes("{") ? `\`${step.path.replaceAll("{", "${")}\`` : `"${step.path}"`;
    const body = step.body === undefined ? "" : `, ${toJavaScript(step.body)}`;
    return `await call("${step.method}", ${address}${body})`;
  };
  const steps = before.map((step) =>
    step.take ? `const { ${destructure(step.take.from)} } = await (${call(step)}).json();` : `${call(step)};`,
  );
  return `const call = (method, path, body) =>
  fetch("${base}" + path, {
    method,
    headers: {
      Authorization: "Bearer ${token}",
      "Content-Type": "application/json",
      Accept: "application/json",
    },
    body: JSON.stringify(body),
  });

${steps.join("\n")}

const response = ${call(last)};
console.log(response.status, await response.text());`;
}

/** The destructuring pattern for a path, such as `items: [{ webhookId }]`. */
function destructure([first, ...rest]: readonly (string | number)[]): string {
  if (rest.length === 0) return String(first);
  const inner = destructure(rest);
  if (first === 0) return `{ ${inner} }`;
  return `${first}: [${inner}]`;
}

/** The steps and then the call, by Python's standard library. */
export function preparedPython({ base, token, before, last }: PreparedCall): string {
  const call = (step: Step) => {
    const address = `${step.path.includes("{") ? "f" : ""}"${step.path}"`;
    const body = step.body === undefined ? "" : `, ${toPython(step.body)}`;
    return `call("${step.method}", ${address}${body})`;
  };
  const steps = before.map((step) => {
    if (!step.take) return call(step);
    const location = step.take.from.map((part) => `[${JSON.stringify(part)}]`).join("");
    return `${step.take.name} = json.loads(${call(step)}[1])${location}`;
  });
  return `import json
from urllib.request import Request, urlopen


def call(method, path, body=None):
    request = Request(
        "${base}" + path,
        method=method,
        headers={
            "Authorization": "Bearer ${token}",
            "Content-Type": "application/json",
            "Accept": "application/json",
        },
        data=None if body is None else json.dumps(body).encode(),
    )
    with urlopen(request) as response:
        return response.status, response.read().decode()


${steps.join("\n")}
print(*${call(last)})`;
}

/** A value as JavaScript writes it. */
export function toJavaScript(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/^(\s*)"(\w+)":/gm, "$1$2:");
}

/** A value as Python writes it. */
export function toPython(value: unknown): string {
  const words: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };
  const text = JSON.stringify(value, null, 4);
  return text.replaceAll(
    /("(?:[^"\\]|\\.)*")|\b(?:true|false|null)\b/g,
    (found, quoted) => quoted ?? words[found],
  );
}
