import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, test } from "vitest";

const FILE = fileURLToPath(new URL("./merchant.ts", import.meta.url));

// The code in the merchant's editor. A comment marks each name that the tests point at.
const CODE = `
import { createClient, type Refund, type RefundRequest, type SubscriptionRequest, type WebhookEventOf } from "../../client/src/index.ts";
const client = createClient({ baseUrl: "", /*accessToken*/accessToken: "" });
const refund = await client./*refunds*/refunds./*issue*/issue({
  /*paymentId*/paymentId: "", /*amount*/amount: "1.00", /*requestKey*/requestKey: "",
  /*clientReferenceId*/clientReferenceId: "", /*clientRefefenceId*/clientRefefenceId: "",
});
refund./*paymentStatus*/paymentStatus;
if (refund.paymentStatus === "TERMINAL_FAILED") refund./*errorDetails*/errorDetails./*errorCode*/errorCode === "";
client.issueRefund({ paymentId: "", amount: { currency: "USD", /*value*/value: 1 }, requestKey: "", /*thin*/clientRefefenceId: "" });
declare const event: WebhookEventOf<"refund.authorized">;
event./*sequence*/sequence; event.data./*eventStatus*/paymentStatus; event./*timestamp*/timestamp;
declare const stored: Refund;
stored./*returned*/clientReferenceId;
declare const asked: RefundRequest;
asked./*read*/clientRefefenceId;
declare const request: SubscriptionRequest;
request./*secretKey*/secretKey; request./*subscriptionDetails*/subscriptionDetails;
`;

const options = (() => {
  const path = fileURLToPath(new URL("../../tsconfig.json", import.meta.url));
  return ts.convertCompilerOptionsFromJson(
    ts.readConfigFile(path, ts.sys.readFile).config.compilerOptions,
    ".",
  ).options;
})();

/** TypeScript's language service, which editors use, on the code above and the files of the tree. */
const service = ts.createLanguageService({
  getScriptFileNames: () => [FILE],
  getScriptVersion: () => "1",
  getScriptSnapshot(name) {
    const text = name === FILE ? CODE : ts.sys.readFile(name);
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
  },
  getCurrentDirectory: () => fileURLToPath(new URL("../../", import.meta.url)),
  getCompilationSettings: () => options,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: (name) => name === FILE || ts.sys.fileExists(name),
  readFile: ts.sys.readFile,
});

/** The text that the editor shows when the pointer is over the marked name. */
function hover(mark: string): string {
  const info = service.getQuickInfoAtPosition(FILE, positionOf(mark));
  const tags = info?.tags?.map(({ name, text }) => `@${name} ${ts.displayPartsToString(text)}`) ?? [];
  return [ts.displayPartsToString(info?.documentation), ...tags].join("\n");
}

function positionOf(mark: string): number {
  return CODE.indexOf(`/*${mark}*/`) + mark.length + 4;
}

describe("an editor", () => {
  test("finds no fault in what a merchant wrote", () => {
    expect(service.getSemanticDiagnostics(FILE).map(({ messageText }) => messageText)).toEqual([]);
  });

  test.each([
    ["paymentId", /original payment that you want to refund\./],
    ["requestKey", /Create it before the call and store it/],
    ["clientReferenceId", /Your own identifier of this refund/],
    ["paymentStatus", /The status of the refund\./],
    ["errorDetails", /Why the refund failed\./],
    ["errorCode", /`CUSTOMER_NOT_DEBITED` \| The original debit was not successful/],
    ["value", /Dollars, as a JSON number/],
    ["sequence", /Deliveries can arrive in any order; sort them by this number\./],
    ["timestamp", /When the event happened\./],
    ["eventStatus", /The refund's status after this event\./],
    ["returned", /or `null` when it had none\./],
    ["secretKey", /It is stored encrypted, and never returned\./],
    ["subscriptionDetails", /Which events the subscription gets\./],
    ["accessToken", /Authorization: Bearer/],
    ["amount", /Dollars with at most two decimals/],
    ["issue", /which is safe because\s+of\s+the\s+`requestKey`/],
    ["refunds", /Issues refunds: each call resolves with the refund/],
  ])("shows at %s what the contract says of it", (mark, text) => {
    expect(hover(mark)).toMatch(text);
  });

  test("strikes the misspelling through, and nothing else", () => {
    const offered = (mark: string) =>
      service
        .getCompletionsAtPosition(FILE, positionOf(mark), {})
        ?.entries.flatMap(({ name, kindModifiers }) => (kindModifiers?.includes("deprecated") ? name : []));
    const struck = service
      .getSuggestionDiagnostics(FILE)
      .filter(({ reportsDeprecated }) => reportsDeprecated)
      .map(({ start }) => start);

    expect(offered("clientRefefenceId")).toEqual(["clientRefefenceId"]);
    expect(offered("thin")).toEqual(["clientRefefenceId"]);
    expect(struck).toEqual([positionOf("read")]);
    expect(hover("clientRefefenceId")).toContain("@deprecated");
  });

  test("offers the codes that are known", () => {
    const code = CODE.indexOf('=== ""') + 5;
    const offered = service.getCompletionsAtPosition(FILE, code, {})?.entries.map(({ name }) => name);

    expect(offered?.sort()).toEqual([
      "AMOUNT_EXCEEDS_REFUNDABLE",
      "CUSTOMER_NOT_DEBITED",
      "PAYMENT_COVERED",
      "PAYMENT_NOT_REFUNDABLE",
    ]);
  });
});

test("every field of the contract's types is described, without the numbers of decisions", () => {
  const path = fileURLToPath(new URL("../../openapi/generated/types.ts", import.meta.url));
  const [, schemas = ""] = /^ {4}schemas: \{\n([\s\S]*?)^ {4}\};$/m.exec(ts.sys.readFile(path) ?? "") ?? [];
  const lines = schemas.split("\n");
  // Below the names of the schemas, at whatever depth.
  const fields = [...lines.keys()].filter((index) => /^ {12,}[\w"]+\??:/.test(lines[index] ?? ""));
  const bare = fields.filter((index) => !lines[index - 1]?.endsWith("*/"));

  expect(bare.map((index) => lines[index])).toEqual([]);
  expect(fields.length).toBeGreaterThan(80);
  expect(schemas).not.toMatch(/\bD\d\d/);
});
