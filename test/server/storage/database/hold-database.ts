/** A program that opens the embedded store of a folder, stores a payment, reports that, and then keeps the store open. */
import { openDatabase } from "../../../../server/storage/database/database.ts";
import { createPayment } from "../../../helpers/store-factories.ts";

const [, , dataDir = ""] = process.argv;
const database = await openDatabase({ dataDir });
await createPayment(database.db, { merchant: "acme", paymentId: "pay_stored" });
process.stdout.write("holding\n");
setInterval(() => {}, 60_000);
