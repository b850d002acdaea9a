import process from "node:process";
import { openJob } from "./first-account.ts";
import { createFirstKey } from "./first-key.ts";

// Prints an administrator's key for a deployment without an identity provider. Reads the service's own configuration,
// and needs the migrated database of the service: start the service once.
const key = await createFirstKey(openJob("first-key"));
process.stdout.write(`${key}\n`);
