import { createClient, expectStatus } from "../journey/client.ts";
import type { System } from "../systems/system.ts";

export const documentedServices = ["account", "images", "config", "webhook-ingest", "webhook-delivery", "gateway"];
const known = ["get", "post", "put", "patch", "delete"];

export interface PublishedRoute {
  readonly path: string;
  readonly methods: readonly string[];
  /** The methods that cannot do without a body. */
  readonly needBody: readonly string[];
  /** The query parameters of GET, where that answers with a list. */
  readonly listParameters: readonly string[] | null;
}

interface Operation {
  readonly requestBody?: { readonly required?: boolean };
  readonly parameters?: readonly Reference[];
  readonly responses?: Readonly<Record<string, Reference>>;
}
// biome-ignore lint/suspicious/noExplicitAny: a document has any depth, and what is read of it is asserted.
type Reference = any;

/** Every route of the OpenAPI documents: what a client can know, it can get wrong. */
export async function publishedRoutes(system: System): Promise<PublishedRoute[]> {
  const send = createClient(system.baseUrl, system.apiKey);
  const documents = documentedServices.map(
    async (service) => expectStatus(await send(`/openapi/${service}.json`), 200).json,
  );
  return (await Promise.all(documents)).flatMap(({ paths, components }) =>
    Object.entries(paths as Record<string, Record<string, Operation>>).map(([path, item]) => {
      const methods = Object.keys(item).filter((method) => known.includes(method));
      const needBody = methods.filter((method) => item[method]?.requestBody?.required === true);
      return { path, methods, needBody, listParameters: listParametersOf(item.get, components) };
    }),
  );
}

/** A list says in its schema that there may be more of it. */
function listParametersOf(get: Operation | undefined, components: Reference): readonly string[] | null {
  const resolved = (node: Reference): Reference =>
    node?.$ref === undefined
      ? node
      : node.$ref
          .split("/")
          .slice(2)
          .reduce((within: Reference, name: string) => within[name], components);
  const schema = resolved(resolved(get?.responses?.["200"])?.content?.["application/json"]?.schema);
  if (get === undefined || schema?.properties?.has_more === undefined) return null;
  return (get.parameters ?? []).map(resolved).flatMap((one: Reference) => (one.in === "query" ? [one.name] : []));
}
