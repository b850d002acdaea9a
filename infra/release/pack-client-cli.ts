import process from "node:process";
import { packClient } from "./pack-client.ts";

/** `npm run pack-client -- <folder>`: the typed client as a tarball for npm, in that folder. */
const [folder = "."] = process.argv.slice(2);
process.stdout.write(`${await packClient(folder)}\n`);
