import { ensureConsole, ensureDocs } from "./ensure-pages.ts";

/** Builds what is stale, before the server starts. TypeScript needs no build, and the bundle is committed. */
await Promise.all([ensureDocs(), ensureConsole()]);
