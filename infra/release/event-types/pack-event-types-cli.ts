import process from "node:process";
import { packEventTypes } from "./pack-event-types.ts";

/** `npm run pack-types -- <folder>`: the types of all events as an archive, in that folder. */
const [folder = "."] = process.argv.slice(2);
process.stdout.write(`${await packEventTypes(folder)}\n`);
