import type { AdaptText } from "../http/pages.ts";

/** The address with which the contract is written. */
const WRITTEN_ADDRESS = "http://127.0.0.1:3000";

/** A name or an address with its port, and nothing that could end a string of the contract. */
const HOST = /^([\w.-]+|\[[\da-f:.]+\])(:\d+)?$/i;

/** Makes the contract name the address at which it is read. */
export const nameOwnAddress: AdaptText = (text, { headers: { host = "" } }) =>
  HOST.test(host) ? text.replaceAll(WRITTEN_ADDRESS, `http://${host}`) : text;
