import { read } from "./store.mjs";

console.log(read(process.env.CERTIFY_REFERENCE)?.status ?? "");
