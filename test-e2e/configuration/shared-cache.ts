import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { engineNamed, enginesFolder, freePort, startOwnEngine } from "@signalbox/infra/engines/index.ts";

/** nginx with a cache that keeps what HTTP lets it keep, also answers to POST, for everybody alike. */
export async function startSharedCache(origin: string): Promise<{ readonly url: string; close(): Promise<void> }> {
  const port = await freePort();
  const parent = join(enginesFolder, "own");
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, "nginx-cache-"));
  // Its workers may run under another account, which makes the files of the cache.
  await chmod(folder, 0o755);
  await writeFile(join(folder, "nginx.conf"), configurationOf({ origin, port, folder }));
  const engine = await startOwnEngine(engineNamed("nginx"), { port, folder });
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      await engine.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];

const configurationOf = ({ origin, port, folder }: { origin: string; port: number; folder: string }): string => `
worker_processes 1;
daemon off;
pid ${folder}/nginx.pid;
events {}
http {
  access_log off;
${temporary.map((name) => `  ${name}_temp_path ${folder}/${name};`).join("\n")}
  proxy_cache_path ${folder}/cache keys_zone=shared:1m;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass ${origin};
      proxy_cache shared;
      proxy_cache_key $request_uri;
      proxy_cache_methods GET HEAD POST;
      add_header X-Cache $upstream_cache_status always;
    }
  }
}
`;
