import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { databaseOf } from "@signalbox/infra/embedded/embedded-defaults.ts";
import { findPostgresUrl, startPostgres } from "@signalbox/infra/engines/postgres/start-postgres.ts";
import { startProcess, type TestProcess } from "@signalbox/testing";
import type { System, SystemOptions } from "./system.ts";

export const startScript = fileURLToPath(new URL("../../infra/embedded/start.ts", import.meta.url));

/** The very first start creates a database server and runs every migration, possibly on a busy machine. */
const startMs = 180_000;

/** The system of `npm start`, on its own ports and data folder. */
export interface EmbeddedSystem extends System {
  readonly process: TestProcess;
  readonly dataDirectory: string;
}

export interface EmbeddedOptions extends SystemOptions {
  /** The data of an earlier run. */
  readonly dataDirectory?: string;
  readonly variables?: Readonly<Record<string, string>>;
}

/** Starts everything in one process. */
export async function startEmbeddedSystem(options: EmbeddedOptions = {}): Promise<EmbeddedSystem> {
  const dataDirectory = options.dataDirectory ?? (await newDataDirectory());
  const process = runEmbedded(dataDirectory, options.properties, [], options.variables);
  const [, baseUrl = "", managementUrl = "", apiKey = ""] = await process.waitForOutput(
    /Base URL +(\S+)\n[\s\S]*?Management +(\S+)\/management\/\S+\n[\s\S]*?API key +(\S+)\n[\s\S]*Ctrl-C/,
    startMs,
  );
  const databases = await databasesIn(dataDirectory);
  return {
    process,
    dataDirectory,
    baseUrl,
    managementUrl,
    managementUrls: new Map(),
    apiKey,
    ...databases,
    async stop() {
      process.signal("SIGTERM");
      const { code } = await process.exited;
      return new Map([["embedded", code]]);
    },
  };
}

/** Starts everything in one process, which is killed and whose data is removed when the stack ends. */
export async function startEmbeddedIn(
  opened: AsyncDisposableStack,
  properties: SystemOptions["properties"] = {},
): Promise<EmbeddedSystem> {
  const system = await startEmbeddedSystem({ properties });
  opened.defer(() => removeData(system));
  opened.defer(async () => void (await system.process.kill()));
  return system;
}

/** Finds the databases of a system that runs on a data folder. */
export async function databasesIn(dataDirectory: string): Promise<Pick<System, "eventsUrl" | "databaseUrl">> {
  const eventsUrl = await findPostgresUrl(join(dataDirectory, "postgres"), "signalbox_events");
  return {
    eventsUrl,
    databaseUrl: (service) => Object.assign(new URL(eventsUrl), { pathname: `/${databaseOf(service)}` }).href,
  };
}

/** Returns a folder that does not exist yet, as on a fresh clone. */
export async function newDataDirectory(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), "signalbox-e2e-"));
  // mkdtemp creates a folder for this account alone; the database server may run under another.
  await chmod(parent, 0o755);
  return join(parent, "data");
}

/** Runs the start without waiting for it, as for starts that must fail. */
export function runEmbedded(
  dataDirectory: string,
  properties: SystemOptions["properties"] = {},
  options: readonly string[] = [],
  variables: EmbeddedOptions["variables"] = {},
): TestProcess {
  const all = {
    "embedded.data-directory": dataDirectory,
    "http.port": "0",
    "internal.port": "0",
    "management.server.port": "0",
    "http.strict-responses": "true",
    ...properties,
  };
  const args = Object.entries(all).map(([name, value]) => `--${name}=${value}`);
  return startProcess(startScript, [...args, ...options], variables, { ownGroup: true });
}

/** Removes the data of a system; after a kill that includes its database server, which still runs. */
export async function removeData({ dataDirectory }: Pick<EmbeddedSystem, "dataDirectory">): Promise<void> {
  const folder = join(dataDirectory, "postgres");
  const runs = await findPostgresUrl(folder, "postgres").then(
    () => true,
    () => false,
  );
  if (runs) await (await startPostgres({ folder, durable: true })).stop();
  await rm(dirname(dataDirectory), { recursive: true, force: true });
}
