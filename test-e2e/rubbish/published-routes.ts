import { createClient, expectStatus } from "../journey/client.ts";
import type { System } from "../systems/system.ts";

export const documentedServices = ["account", "images", "config", "webhook-ingest", "webhook-delivery", "gateway"];
const known = ["get", "post", "put", "patch", "delete"];

export interface PublishedRoute {
  readonly path: string;
  readonly methods: readonly string[];
  /** The methods that cannot do without a body. */
  readonly needBody: readonly string[];
}

/** Every route of the OpenAPI documents: what a client can know, it can get wrong. */
export async function publishedRoutes(system: System): Promise<PublishedRoute[]> {
  const send = createClient(system.baseUrl, system.apiKey);
  const documents = documentedServices.map(
    async (service) => expectStatus(await send(`/openapi/${service}.json`), 200).json,
  );
  return (await Promise.all(documents)).flatMap(({ paths }) =>
    Object.entries(paths as Record<string, Record<string, { requestBody?: { required?: boolean } }>>).map(
      ([path, item]) => {
        const methods = Object.keys(item).filter((method) => known.includes(method));
        return { path, methods, needBody: methods.filter((method) => item[method]?.requestBody?.required === true) };
      },
    ),
  );
}
