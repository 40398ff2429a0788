import { isConsoleCurrent } from "../console/stale.ts";
import { isDocsCurrent } from "./stale.ts";

/** Builds what is stale, before the server starts. TypeScript needs no build, and the bundle is committed. */
const [isDocs, isConsole] = await Promise.all([isDocsCurrent(), isConsoleCurrent()]);
// Loaded only then: what builds pages takes a second to load.
if (!isDocs) await (await import("./docs.ts")).buildDocs();
if (!isConsole) await (await import("../console/build-console.ts")).buildConsole();
