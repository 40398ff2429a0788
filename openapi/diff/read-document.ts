/** Reads documents that are split into files, also as they were in a revision of git. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, dirname, relative, resolve } from "node:path";
import { load } from "js-yaml";
import { isNode, step } from "./json-pointer.ts";

/** A reference to another file, in YAML or JSON. */
const OUTWARD = /\$ref["']?\s*:\s*["']?[^#"'\s{]/;

/** A document, as YAML or JSON, with the files that it refers to: as they are, or were in a revision of git. */
export function readDocument(path: string, revision?: string): unknown {
  const [root, files] = [resolve(path), new Map<string, unknown>()];
  const read = (file: string): unknown => {
    const show = ["show", `${revision}:./${basename(file)}`];
    const options = { cwd: dirname(file), encoding: "utf8", maxBuffer: 1e9, stdio: "pipe" } as const;
    let [text, value] = ["", undefined as unknown];
    try {
      text = revision === undefined ? readFileSync(file, "utf8") : execFileSync("git", show, options);
      value = text.trimStart().startsWith("{") ? JSON.parse(text) : load(text);
    } catch (error) {
      throw new Error(`${file} can't be read: ${`${error}`.split("\n", 2).join(" ")}`);
    }
    if (file === root && !OUTWARD.test(text)) return value;
    return JSON.parse(JSON.stringify(value), (name, part) => (name === "$ref" ? toPart(part, file) : part));
  };
  const pointerTo = (file: string) => (file === root ? "" : `/x-files${step(relative(dirname(root), file))}`);
  /** References to other files become references to `x-files`, where these are. */
  const toPart = (reference: unknown, file: string): unknown => {
    if (typeof reference !== "string" || /^[a-z][a-z+.-]*:/i.test(reference)) return reference;
    const [name = "", fragment = ""] = reference.split("#");
    const target = name === "" ? file : resolve(dirname(file), decodeURIComponent(name));
    if (target !== root && !files.has(target)) files.set(target, undefined).set(target, read(target));
    return `#${pointerTo(target)}${fragment}`;
  };
  const document = read(root);
  if (!isNode(document) || !("openapi" in document))
    throw new Error(
      `${path} is no OpenAPI document: it doesn't begin with "openapi: 3.1.0", or another version.`,
    );
  const parts = Array.from(files, ([file, value]) => [relative(dirname(root), file), value] as const);
  return parts.length === 0 ? document : { ...document, "x-files": Object.fromEntries(parts) };
}
