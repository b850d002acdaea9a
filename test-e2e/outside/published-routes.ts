import { createClient, expectStatus } from "../journey/client.ts";
import type { System } from "../systems/system.ts";

export const documentedServices = ["account", "images", "config", "webhook-ingest", "webhook-delivery", "gateway"];
const known = ["get", "post", "put", "patch", "delete", "options"];

export interface PublishedRoute {
  readonly path: string;
  readonly methods: readonly string[];
  /** The methods that require a body. */
  readonly needBody: readonly string[];
  /** True when POST takes a JSON body without required members. */
  readonly mayBeEmpty: boolean;
  /** The query parameters of a GET that returns a list; null otherwise. */
  readonly listParameters: readonly string[] | null;
}

interface Operation {
  readonly requestBody?: { readonly required?: boolean; readonly content?: Reference };
  readonly parameters?: readonly Reference[];
  readonly responses?: Readonly<Record<string, Reference>>;
}
// biome-ignore lint/suspicious/noExplicitAny: a document has any depth, and every value that is read is asserted.
type Reference = any;

/** Reads every route of the OpenAPI documents: what a client knows, it can get wrong. */
export async function publishedRoutes(system: System): Promise<PublishedRoute[]> {
  const send = createClient(system.baseUrl, system.apiKey);
  const documents = documentedServices.map(
    async (service) => expectStatus(await send(`/openapi/${service}.json`), 200).json,
  );
  return (await Promise.all(documents)).flatMap(({ paths, components }) =>
    Object.entries(paths as Record<string, Record<string, Operation>>).map(([path, item]) => {
      const methods = Object.keys(item).filter((method) => known.includes(method));
      const needBody = methods.filter((method) => item[method]?.requestBody?.required === true);
      const resolve = (node: Reference) => resolved(node, components);
      const mayBeEmpty = isWithoutNeeds(item.post, resolve);
      return { path, methods, needBody, mayBeEmpty, listParameters: listParametersOf(item.get, resolve) };
    }),
  );
}

type Resolve = (node: Reference) => Reference;

function isWithoutNeeds(post: Operation | undefined, resolve: Resolve): boolean {
  const schema = resolve(post?.requestBody?.content?.["application/json"]?.schema);
  return (
    schema?.type === "object" &&
    (schema.required ?? []).length === 0 &&
    [schema.anyOf, schema.else].every((more) => more === undefined)
  );
}

/** A list's schema has a member for further pages. */
function listParametersOf(get: Operation | undefined, resolve: Resolve): readonly string[] | null {
  const schema = resolve(resolve(get?.responses?.["200"])?.content?.["application/json"]?.schema);
  if (get === undefined || schema?.properties?.has_more === undefined) return null;
  return (get.parameters ?? []).map(resolve).flatMap((one: Reference) => (one.in === "query" ? [one.name] : []));
}

/** Resolves a `$ref`: `#/components/schemas/Account`. */
function resolved(node: Reference, components: Reference): Reference {
  if (node?.$ref === undefined) return node;
  const names: string[] = node.$ref.split("/").slice(2);
  return names.reduce((within, name) => within[name], components);
}
