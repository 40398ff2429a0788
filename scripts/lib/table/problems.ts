import { type AnswerRow, breaks, closed, keeps, text } from "./message.ts";
import { CODES, EXISTING, MEDIA_TYPES, PROBLEMS, problem, UUID, VIOLATION } from "./problem.ts";
import type { OperationId } from "./row.ts";
import { NOT_A_LIST, NOT_A_TEXT } from "./values.ts";

/** Every problem of every operation, as both media types. */
const everywhere = (Object.keys(PROBLEMS) as OperationId[]).flatMap((operation) =>
  Object.keys(PROBLEMS[operation]).flatMap((status) =>
    MEDIA_TYPES.flatMap((mediaType) => {
      const row = problem(operation, Number(status), mediaType);
      const extra = { violations: [VIOLATION], existing: EXISTING };
      const others = Object.entries(extra).filter(([name]) => !(name in (row.body as object)));
      return [
        row,
        ...breaks(row, "", { "is empty": {}, "is a refund": EXISTING }),
        ...others.flatMap(([name, value]) => breaks(row, `/${name}`, { "is of another problem": value })),
      ];
    }),
  ),
);

const wrongTypes = (Object.keys(PROBLEMS) as OperationId[]).flatMap((operation) =>
  Object.keys(PROBLEMS[operation]).flatMap((status) => {
    const row = problem(operation, Number(status));
    return ["text/plain", "text/html", "application/xml"].map((type) => ({
      ...row,
      name: `${operation} ${status} as ${type}`,
      headers: { ...row.headers, "Content-Type": type },
      allowed: false,
    }));
  }),
);

const MEMBERS = ["type", "title", "status", "detail", "instance", "errorDetails"];
const plain = problem("issueRefund", 404);
const invalid = problem("issueRefund", 400);

const common: AnswerRow[] = [
  ...closed(plain, "", MEMBERS),
  ...closed(invalid, "", [...MEMBERS, "violations"]),
  ...closed(problem("issueRefund", 409), "", [...MEMBERS, "existing"]),
  ...keeps(plain, "/type", { "is short": "a:b", "has 100 characters": `urn:${"x".repeat(96)}` }),
  ...breaks(plain, "/type", {
    ...NOT_A_TEXT,
    "is empty": "",
    "has 101 characters": `urn:${"x".repeat(97)}`,
    "is no URI": "not a URI",
    "is a path": "/problems/x",
  }),
  ...text(plain, "/title", { max: 100 }),
  ...text(plain, "/detail", { max: 1000 }),
  ...keeps(plain, "/status", { "is 400": 400, "is 599": 599 }),
  ...breaks(plain, "/status", {
    "is 399": 399,
    "is 600": 600,
    "is broken": 404.5,
    "is a text": "404",
    "is null": null,
  }),
  ...keeps(plain, "/instance", {
    "has the last of each kind": `urn:uuid:${UUID.replaceAll(/[a-f]/g, "f").replaceAll(/\d/g, "9")}`,
    "has the first of each kind": `urn:uuid:${UUID.replaceAll(/[a-f]/g, "a").replaceAll(/\d/g, "0")}`,
  }),
  ...breaks(plain, "/instance", {
    ...NOT_A_TEXT,
    "is in capitals": `urn:uuid:${UUID.toUpperCase()}`,
    "is no URN": UUID,
    "is another URN": `urn:uuie:${UUID}`,
    "has no hyphens": `urn:uuid:${UUID.replaceAll("-", "")}0000`,
    ...Object.fromEntries(
      UUID.split("-").flatMap((group, index) => [
        ...[..."/:`gA"].map((digit) => [
          `has ${digit} in group ${index + 1}`,
          withGroup(index, digit + group.slice(1)),
        ]),
        [`lacks a digit of group ${index + 1}`, withGroup(index, group.slice(1))],
        [`has a digit more in group ${index + 1}`, withGroup(index, `0${group}`)],
      ]),
    ),
  }),
  ...closed(plain, "/errorDetails", ["errorCode", "errorMessage"]),
  ...keeps(plain, "/errorDetails/errorCode", Object.fromEntries(CODES.map((code) => [`is ${code}`, code]))),
  ...breaks(plain, "/errorDetails/errorCode", {
    ...NOT_A_TEXT,
    "is OTHER": "OTHER",
    "is in small letters": "not_found",
    "is of a refund": "CUSTOMER_NOT_DEBITED",
  }),
  ...text(plain, "/errorDetails/errorMessage", { max: 1000 }),
];

function withGroup(index: number, group: string): string {
  return `urn:uuid:${UUID.split("-").with(index, group).join("-")}`;
}

/** Of the problems that say more than others, each member once: they share the schemas of their members. */
const shared = [invalid, problem("issueRefund", 409)].flatMap((row) =>
  Object.entries({
    type: "not a URI",
    title: "",
    status: 399,
    detail: "",
    instance: UUID,
    errorDetails: { errorCode: "OTHER", errorMessage: "x" },
  }).flatMap(([name, value]) => breaks(row, `/${name}`, { "is broken": value })),
);

const violations: AnswerRow[] = [
  ...keeps(invalid, "/violations", { "are 20": Array(20).fill(VIOLATION) }),
  ...breaks(invalid, "/violations", { ...NOT_A_LIST, "are none": [], "are 21": Array(21).fill(VIOLATION) }),
  ...closed(invalid, "/violations/0", ["pointer", "message"]),
  ...text(invalid, "/violations/0/pointer", { min: 0, max: 1000 }),
  ...text(invalid, "/violations/0/message", { max: 1000 }),
];

export const problemRows: readonly AnswerRow[] = [
  ...everywhere,
  ...wrongTypes,
  ...common,
  ...shared,
  ...violations,
];
