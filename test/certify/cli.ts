#!/usr/bin/env node
import { isPackaged } from "../../server/config/environment.ts";
import { runCertify } from "./command.ts";

await runCertify(isPackaged ? "npx @refund-contract/certify" : "npm run proof -- certify");
