import { buildOnce } from "./build-once.ts";

export const setup = buildOnce("scripts/docs/build-docs.ts", "--if-stale");
