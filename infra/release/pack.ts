/**
 * `npm run pack -- <folder> [client | event-types]`: the archives of this version in the folder, or one of them: the typed
 * client with the command, the types of all events, the files of a deployment, the chart, and `SHA256SUMS` over them.
 */
import process from "node:process";
import { packClient } from "./pack-client.ts";
import { packEventTypes, packRelease } from "./pack-release.ts";

const [folder = ".", part = "all"] = process.argv.slice(2);
const parts: Readonly<Record<string, (folder: string) => Promise<readonly string[]>>> = {
  all: packRelease,
  client: async () => [await packClient(folder)],
  "event-types": async () => [await packEventTypes(folder)],
};
const pack = parts[part];
if (pack) for (const path of await pack(folder)) process.stdout.write(`${path}\n`);
else {
  process.stderr.write(`There is no part "${part}". Name one of: ${Object.keys(parts).join(", ")}.\n`);
  process.exitCode = 2;
}
