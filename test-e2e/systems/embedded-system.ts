import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findPostgresUrl } from "@signalbox/infra/engines/index.ts";
import { startProcess, type TestProcess } from "@signalbox/testing";
import type { System, SystemOptions } from "./system.ts";

const script = fileURLToPath(new URL("../../infra/embedded/start.ts", import.meta.url));

/** What `npm start` runs, on ports and a data folder of its own. */
export interface EmbeddedSystem extends System {
  readonly process: TestProcess;
  readonly dataDirectory: string;
}

/** Starts everything in one process. With `dataDirectory`, on the data an earlier run left there. */
export async function startEmbeddedSystem(
  options: SystemOptions & { readonly dataDirectory?: string } = {},
): Promise<EmbeddedSystem> {
  const dataDirectory = options.dataDirectory ?? (await mkdtemp(join(tmpdir(), "signalbox-e2e-")));
  const properties = {
    "embedded.data-directory": dataDirectory,
    "http.port": "0",
    "internal.port": "0",
    "management.server.port": "0",
    "http.strict-responses": "true",
    ...options.properties,
  };
  const process = startProcess(
    script,
    Object.entries(properties).map(([name, value]) => `--${name}=${value}`),
  );
  const [, baseUrl = "", managementUrl = "", apiKey = ""] = await process.waitForOutput(
    /Base URL +(\S+)\n +Management +(\S+)\/management\n[\s\S]*?API key +(\S+)\n[\s\S]*Ctrl-C/,
    60_000,
  );
  return {
    process,
    dataDirectory,
    baseUrl,
    managementUrl,
    managementUrls: new Map(),
    apiKey,
    eventsUrl: await findPostgresUrl(join(dataDirectory, "postgres"), "signalbox_events"),
    async stop() {
      process.signal("SIGTERM");
      const { code } = await process.exited;
      return new Map([["embedded", code]]);
    },
  };
}

/** Removes what a system left behind. */
export async function removeData({ dataDirectory }: EmbeddedSystem): Promise<void> {
  await rm(dataDirectory, { recursive: true, force: true });
}
