// Prints the status of a refund as the merchant's system knows it.
import { read } from "./store.mjs";

console.log(read(process.env.CERTIFY_REFERENCE)?.status ?? "");
