import { type StartedNginx, startNginx } from "../systems/start-nginx.ts";

/** Starts nginx as a shared cache that stores everything that HTTP permits, including answers to POST. */
export function startSharedCache(origin: string): Promise<StartedNginx> {
  return startNginx(({ listen, folder }) => configurationOf({ origin, listen, folder }));
}

const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];

const configurationOf = ({ origin, listen, folder }: { origin: string; listen: string; folder: string }): string => `
worker_processes 1;
daemon off;
pid ${folder}/nginx.pid;
events {}
http {
  access_log off;
${temporary.map((name) => `  ${name}_temp_path ${folder}/${name};`).join("\n")}
  proxy_cache_path ${folder}/cache keys_zone=shared:1m;
  server {
    listen ${listen};
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
