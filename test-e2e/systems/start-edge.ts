import { join } from "node:path";
import type { ServiceName } from "@signalbox/core";
import { nginxConfiguration } from "@signalbox/infra/edge/nginx-configuration.ts";
import { type StartedNginx, startNginx } from "./start-nginx.ts";

/** Starts nginx as the edge of these services, with the deployed configuration. */
export function startEdge(
  upstreams: Readonly<Partial<Record<ServiceName, string | readonly string[]>>>,
): Promise<StartedNginx> {
  return startNginx(({ listen, folder }) =>
    nginxConfiguration({ upstreams, listen, workDirectory: folder, accessLog: join(folder, "access.log") }),
  );
}
