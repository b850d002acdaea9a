import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { engineNamed, enginesFolder, freePort, startOwnEngine } from "@signalbox/infra/engines/index.ts";

export interface StartedNginx {
  readonly url: string;
  /** With its configuration and what it writes. */
  readonly folder: string;
  close(): Promise<void>;
}

/** Starts an nginx of one's own, with the configuration that is written for its address and its folder. */
export async function startNginx(
  configurationOf: (given: { readonly listen: string; readonly folder: string }) => string,
): Promise<StartedNginx> {
  const port = await freePort();
  // Beside the other engines of single tests: what a killed test leaves there is swept by the next one.
  const parent = join(enginesFolder, "own");
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, "nginx-"));
  // Its workers may run under another account, which makes the files of a cache.
  await chmod(folder, 0o755);
  await writeFile(join(folder, "nginx.conf"), configurationOf({ listen: `127.0.0.1:${port}`, folder }));
  const engine = await startOwnEngine(engineNamed("nginx"), { port, folder });
  return {
    url: `http://127.0.0.1:${port}`,
    folder,
    close: async () => {
      await engine.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
