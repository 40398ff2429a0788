import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";
import { defineProof } from "../../../scripts/command/command.ts";
import { startServerProcess } from "../../helpers/process.ts";
import { installTools } from "../../helpers/projects.ts";
import { sandboxOf } from "../../helpers/sandbox.ts";
import { post } from "../../helpers/server.ts";
import { check, endChecks, expectSame } from "../support/checks.ts";

/** The converters that Postman, Bruno and Insomnia import documents with, as they publish them. */
const CONVERTERS = ["openapi-to-postmanv2@6.3.3", "@usebruno/converters@0.23.0", "insomnia-importers@3.6.0"];

/** A request of a collection; variables are filled in. */
type Imported = { url: string; tokenVariable: string; body?: string };
type Importer = (contract: string) => Promise<Imported[]>;

defineProof("importers").parse();
await using sandbox = await startServerProcess();
const load = createRequire(join(await installTools("importers", CONVERTERS), "any.cjs"));

await tryImport("Postman", { file: "openapi.yaml", importer: importInPostman, statuses: [201, 200] });
await tryImport("Bruno", { file: "openapi.yaml", importer: importInBruno, statuses: [201, 200] });
// Its bodies have the names of the fields only.
await tryImport("Insomnia", { file: "openapi-3.0.yaml", importer: importInInsomnia, statuses: [400, 400] });
endChecks();

function tryImport(
  name: string,
  { file, importer, statuses }: { file: string; importer: Importer; statuses: readonly number[] },
): Promise<unknown> {
  return check(name, async () => {
    await sandboxOf(sandbox)("resetSandbox");
    const requests = await importer(await (await fetch(`${sandbox.url}/${file}`)).text());
    const found: number[] = [];
    for (const { url, body } of requests) {
      if (!url.startsWith(`${sandbox.url}/v1/`)) throw new Error(`it would send a request to ${url}`);
      found.push((await post(sandbox.url, url.slice(sandbox.url.length), body)).status);
    }
    expectSame("the list of statuses", found.join(), statuses.join());
    return `the token is ${[...new Set(requests.map(({ tokenVariable }) => tokenVariable))].join()}`;
  });
}

/** With parameters from examples, as the dialog of its import offers. */
async function importInPostman(contract: string): Promise<Imported[]> {
  type Item = { item?: Item[]; request: { url: { path: string[] }; body: { raw: string } } };
  type Collection = { item: Item[]; variable: { value: string }[]; auth: { bearer: { value: string }[] } };
  const { convertV2 } = load("openapi-to-postmanv2");
  const { output } = (await promisify(convertV2)(
    { type: "string", data: contract },
    { parametersResolution: "Example" },
  )) as { output: [{ data: Collection }] };
  const [{ data }] = output;
  const listRequests = (items: Item[]): Item[] =>
    items.flatMap((one) => listRequests(one.item ?? []).concat(one.item ? [] : one));
  return listRequests(data.item).map(({ request: { url, body } }) => ({
    url: `${data.variable[0]?.value}/${url.path.join("/")}`,
    tokenVariable: String(data.auth.bearer[0]?.value),
    body: body.raw,
  }));
}

async function importInBruno(contract: string): Promise<Imported[]> {
  type Item = {
    items?: Item[];
    request: { url: string; auth: { bearer: { token: string } }; body: { json: string } };
  };
  type Collection = { items: Item[]; environments: { variables: { value: string }[] }[] };
  const { openApiToBruno } = load("@usebruno/converters");
  const { items, environments }: Collection = openApiToBruno(parse(contract));
  const listRequests = (some: Item[]): Item[] =>
    some.flatMap((one) => (one.items ? listRequests(one.items) : [one]));
  return listRequests(items).map(({ request: { url, auth, body } }) => ({
    url: url.replace("{{baseUrl}}", String(environments[0]?.variables[0]?.value)),
    tokenVariable: auth.bearer.token,
    body: body.json,
  }));
}

async function importInInsomnia(contract: string): Promise<Imported[]> {
  type Resource = {
    _type: string;
    url: string;
    authentication: { token: string };
    body: { text: string };
    data?: { scheme?: string; host?: string };
  };
  const { convert } = load("insomnia-importers");
  const { data } = (await convert(contract)) as { data: { resources: Resource[] } };
  const { scheme, host } = data.resources.find((one) => one.data?.host)?.data ?? {};
  return data.resources
    .filter(({ _type }) => _type === "request")
    .map(({ url, authentication, body }) => ({
      url: url.replace("{{ base_url }}", `${scheme}://${host}`),
      tokenVariable: authentication.token,
      body: body.text,
    }));
}
