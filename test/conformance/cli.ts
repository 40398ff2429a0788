#!/usr/bin/env node
import { runConform } from "./command.ts";

await runConform("npx @refund-contract/conformance");
