import { buildOnce } from "./build-once.ts";

export const setup = buildOnce("scripts/console/build-console.ts");
