import { describe, expect, test } from "vitest";
import { MAX_MEMBERS, MAX_NAME_LENGTH, scanJson } from "../../../server/contract/scan-json.ts";

describe("a body", () => {
  const list = (count: number, item: string) => `[${Array(count).fill(item)}]`;
  const members = (count: number) => `{${Array.from({ length: count }, (_, index) => `"f${index}": null`)}}`;
  const tooMany = {
    pointer: "",
    message: `has too many fields and list items; at most ${MAX_MEMBERS} in all are allowed`,
  };

  test.each([
    ["items", (count: number) => list(count, "1.5")],
    ["members", members],
    ["both, at several levels", (count: number) => `{"a": ${list(count - 3, "[]")}, "b": {"c": true}}`],
  ])("with as many %s as are read passes, and with one more gets one error", (_kind, write) => {
    JSON.parse(write(MAX_MEMBERS + 1));

    expect(scanJson(write(MAX_MEMBERS)).error).toBeUndefined();
    expect(scanJson(write(MAX_MEMBERS + 1)).error).toEqual(tooMany);
  });

  test.each([
    ["items of a list", list(30_000, "1")],
    ["numbers with a point", list(15_000, "1.5")],
    ["numbers without commas", "1.5 ".repeat(15_000)],
    ["strings without commas", '"" '.repeat(20_000)],
    ["names without values", '"":'.repeat(20_000)],
    ["words", `[${"null,".repeat(12_000)}`],
  ])("with thousands of %s is read no further than the limit", (_kind, text) => {
    const { error, literals } = scanJson(text);

    expect(error).toEqual(tooMany);
    expect(literals.length).toBeLessThanOrEqual(MAX_MEMBERS + 2);
  });

  test("with a name that is too long gets an error where the name stands, and without the name", () => {
    const nameOf = (length: number, character = "~") => `{"~/": [0, {"${character.repeat(length)}": 1}]}`;

    for (const character of ["~", "😀"])
      expect(scanJson(nameOf(MAX_NAME_LENGTH, character)).error).toBeUndefined();
    expect(scanJson(nameOf(MAX_NAME_LENGTH + 1)).error).toEqual({
      pointer: "/~0~1/1",
      message: `holds a field with a name of more than ${MAX_NAME_LENGTH} characters; remove it`,
    });
  });

  test.each([
    ['{"a" :1,"a"\n:1}', "/a"],
    ['{"\\u0061":1,"a":1}', "/a"],
    ['{"a\\"":1,"a\\"":1}', '/a"'],
    ['{"b":"\\\\","a":"\\\\\\",","a":1}', "/a"],
    ['[0,{"a":[[],"x",true,{"b":1,"b":2}]}]', "/1/a/3/b"],
  ])("that holds a member twice gets an error for it: %s", (text, pointer) => {
    JSON.parse(text);

    expect(scanJson(text).error).toEqual({ pointer, message: "occurs twice; send it only once" });
  });

  test("keeps how its numbers are written, and where", () => {
    const { error, literals } = scanJson('{"a":{"b":-1,"c":[7,1.50,{"b":1e2}]},"b":[],"c":"2.5"}');

    expect(error).toBeUndefined();
    expect(literals).toEqual([
      { path: ["a", "b"], text: "-1" },
      { path: ["a", "c", 1], text: "1.50" },
      { path: ["a", "c", 2, "b"], text: "1e2" },
    ]);
  });
});
