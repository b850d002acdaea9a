import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ServiceName } from "@signalbox/core";
import { nginxConfiguration } from "@signalbox/infra/edge/nginx-configuration.ts";
import { enginesFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { engineNamed } from "@signalbox/infra/engines/engines.ts";
import { freePort } from "@signalbox/infra/engines/free-port.ts";
import { startOwnEngine } from "@signalbox/infra/engines/own-engines.ts";

export interface StartedNginx {
  readonly url: string;
  /** Folder of its configuration and output. */
  readonly folder: string;
  close(): Promise<void>;
}

/** Starts a separate nginx, with a configuration for its address and folder. */
export async function startNginx(
  configurationOf: (given: { readonly listen: string; readonly folder: string }) => string,
): Promise<StartedNginx> {
  const port = await freePort();
  // Beside the engines of single tests: the next one removes the remains of a killed test.
  const parent = join(enginesFolder, "own");
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, "nginx-"));
  // Its workers may run under another account, which creates the cache files.
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

/** A second listener of the edge, with TLS. */
export interface SecureListener {
  readonly port: number;
  readonly certFile: string;
  readonly keyFile: string;
}

/** Starts nginx as the edge of these services, with the deployed configuration. */
export function startEdge(
  upstreams: Readonly<Partial<Record<ServiceName, string | readonly string[]>>>,
  secure?: SecureListener,
): Promise<StartedNginx> {
  return startNginx(({ listen, folder }) =>
    nginxConfiguration({
      upstreams,
      listen: secure ? `${listen};\n    ${listenWith(secure)}` : listen,
      workDirectory: folder,
      accessLog: join(folder, "access.log"),
    }),
  );
}

const listenWith = ({ port, certFile, keyFile }: SecureListener): string =>
  `listen 127.0.0.1:${port} ssl; ssl_certificate ${certFile}; ssl_certificate_key ${keyFile}`;

/** Has nginx read its configuration and certificates again. */
export async function reloadNginx({ folder }: Pick<StartedNginx, "folder">): Promise<void> {
  process.kill(Number(await readFile(join(folder, "nginx.pid"), "utf8")), "SIGHUP");
}

/** Returns one free port per name. */
export async function freePorts(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
  return new Map(await Promise.all(names.map(async (name) => [name, await freePort()] as const)));
}
