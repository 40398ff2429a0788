import { setFlagsFromString } from "node:v8";

/*
 * The embedded PostgreSQL of a test runs for seconds. Optimizing its WebAssembly would take a third of the test's processor
 * time, and half a gigabyte.
 */
setFlagsFromString("--no-wasm-tier-up");
setFlagsFromString("--no-wasm-dynamic-tiering");
