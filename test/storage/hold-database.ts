/** A process of its own that opens the embedded store of a folder, stores a payment, says so, and then only holds on. */
import { openDatabase } from "../../server/storage/database.ts";
import { givenPayment } from "./given.ts";

const [, , dataDir = ""] = process.argv;
const database = await openDatabase({ dataDir });
await givenPayment(database.db, { merchant: "acme", paymentId: "pay_stored" });
process.stdout.write("holding\n");
setInterval(() => {}, 60_000);
