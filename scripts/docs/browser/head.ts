import { applyTheme } from "../../../server/sandbox/console/parts/theme.ts";

/* Runs in the head of every page, so that it is never drawn in the other colours first. */
applyTheme();
