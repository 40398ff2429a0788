import { buildConsole, isConsoleCurrent } from "../console/build-console.ts";
import { buildDocs, isDocsCurrent } from "./docs.ts";

/** Builds what is stale, before the server starts. TypeScript needs no build, and the bundle is committed. */
if (!(await isDocsCurrent())) await buildDocs();
if (!(await isConsoleCurrent())) await buildConsole();
