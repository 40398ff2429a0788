/** Modules of a package are JavaScript; in a clone they are TypeScript. */
export const isPackaged = import.meta.url.endsWith(".js");

/** How people run the operator's commands, in messages that tell them to. */
export const ADMIN_COMMAND = isPackaged ? "npx @refund-contract/server admin" : "npm run admin --";
