import process from "node:process";
import { openJob } from "./first-account.ts";
import { createFirstLink } from "./first-link.ts";

// Prints a link that signs the first administrator in. Reads the service's own configuration, and needs the migrated
// database of the service: start the service once.
const link = await createFirstLink(openJob("first-link"));
if (link === null) {
  process.stderr.write(
    "The built-in issuer is off (account.issuer.enabled): with another issuer administrators need no first link.\n",
  );
  process.exitCode = 1;
} else {
  process.stdout.write(`${link}\n`);
}
