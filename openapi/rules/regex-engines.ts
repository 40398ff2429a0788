import { createRequire } from "node:module";
import { RE2 } from "re2-wasm";

/** A pattern as one engine compiles it: says whether it is found in a text. Compiling throws when the engine refuses. */
export type Compile = (pattern: string) => (text: string) => boolean;

type Pcre = {
  match(text: string): object | null;
};
type PcreModule = {
  readonly default: { new (pattern: string): Pcre; init(): Promise<void> };
};

const Pcre = await loadPcre();

/** The engines that validators and generated clients use: JavaScript, Go and Rust (RE2), PHP (PCRE2). */
export const ENGINES: Readonly<Record<string, Compile>> = {
  "ECMAScript without `u`": (pattern) => {
    const expression = new RegExp(pattern);
    return (text) => expression.test(text);
  },
  "ECMAScript with `u`": (pattern) => {
    const expression = new RegExp(pattern, "u");
    return (text) => expression.test(text);
  },
  RE2: (pattern) => {
    const expression = new RE2(pattern, "u");
    // The binding rewrites the escapes of ECMAScript for RE2, which no other program does. A slash needs none.
    const isSame = withoutEscapedSlash(expression.internalSource) === withoutEscapedSlash(pattern);
    if (!isSame) throw new Error("invalid escape sequence");
    return (text) => expression.test(text);
  },
  PCRE2: (pattern) => {
    // Never destroyed: a document has few patterns, and a lint run ends soon.
    const expression = new Pcre.default(pattern);
    return (text) => expression.match(text) !== null;
  },
};

function withoutEscapedSlash(pattern: string): string {
  return pattern.replaceAll("\\/", "/");
}

/** The build is older than Node's `fetch`: where it finds one, it takes Node for a browser, and its file for a URL. */
async function loadPcre(): Promise<PcreModule> {
  const { fetch } = globalThis;
  try {
    Reflect.deleteProperty(globalThis, "fetch");
    const loaded: PcreModule = createRequire(import.meta.url)("@stephen-riley/pcre2-wasm");
    await loaded.default.init();
    return loaded;
  } finally {
    globalThis.fetch = fetch;
  }
}
