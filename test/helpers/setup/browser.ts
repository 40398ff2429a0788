import { installChromium } from "../browser.ts";

/** Installs the browser of the tests when this is the first run that needs one. */
export const setup = installChromium;
