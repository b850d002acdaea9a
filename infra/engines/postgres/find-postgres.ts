import { join } from "node:path";
import { readPassword, serverUser } from "./data-folder.ts";
import { findPostgresPrograms } from "./postgres-programs.ts";
import { findPostmaster } from "./postmaster.ts";
import { choosePlace } from "./server-account.ts";

/** The URL of a database of the server that runs on this folder. Throws when none does. */
export async function findPostgresUrl(folder: string, database: string): Promise<string> {
  const place = await choosePlace(folder, await findPostgresPrograms(), true);
  const server = await findPostmaster(join(place.folder, "data"));
  if (server === null) throw new Error(`no PostgreSQL runs on ${folder}`);
  return `postgres://${serverUser}:${await readPassword(place.folder)}@127.0.0.1:${server.port}/${database}`;
}
