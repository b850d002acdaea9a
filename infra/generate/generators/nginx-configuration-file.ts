import type { Generator } from "../generator.ts";

/** The edge of docker-compose.yml, from the table of edge routes. */
export const nginxConfigurationFile: Generator = {
  name: "nginx configuration",
  kind: "committed",
  folders: async () => [],
  generate: async () => {
    const { nginxConfiguration } = await import("../../edge/nginx-configuration.ts");
    const { edgeRoutes } = await import("../../edge/edge-routes.ts");
    const upstreams = Object.fromEntries(edgeRoutes.map(({ service }) => [service, `${service}:8080`]));
    const content = nginxConfiguration({ upstreams, listen: "8080", workDirectory: "/run/edge" });
    return new Map([["infra/nginx/nginx.conf", content]]);
  },
};
