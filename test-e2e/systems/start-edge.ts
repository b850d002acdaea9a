import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ServiceName } from "@signalbox/core";
import { nginxConfiguration } from "@signalbox/infra/edge/nginx-configuration.ts";
import { engineNamed, enginesFolder, freePort, startOwnEngine } from "@signalbox/infra/engines/index.ts";

/** Starts nginx as the edge of these services, with the configuration that is deployed. */
export async function startEdge(
  upstreams: Readonly<Partial<Record<ServiceName, string | readonly string[]>>>,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const port = await freePort();
  // Beside the other engines of single tests: what a killed test leaves there is swept by the next one.
  const parent = join(enginesFolder, "own");
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, "nginx-"));
  const listen = `127.0.0.1:${port}`;
  const accessLog = join(folder, "access.log");
  const configuration = nginxConfiguration({ upstreams, listen, workDirectory: folder, accessLog });
  await writeFile(join(folder, "nginx.conf"), configuration);
  const engine = await startOwnEngine(engineNamed("nginx"), { port, folder });
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      await engine.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
