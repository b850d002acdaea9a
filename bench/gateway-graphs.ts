import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { composeServices } from "@apollo/composition";
import { buildSubgraphSchema } from "@apollo/subgraph";
import { serveListener } from "@signalbox/testing";
import {
  type DocumentNode,
  execute,
  type GraphQLFieldResolver,
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isLeafType,
  isListType,
  parse,
} from "graphql";

/** A supergraph whose subgraphs are listeners of this process, named as in our gateway. */
export interface ServedGraph {
  readonly supergraphSdl: string;
  /** The URLs by subgraph name. */
  readonly urls: Readonly<Record<string, string>>;
}

const services = ["account", "images", "config", "webhook-ingest", "webhook-delivery"] as const;
type Subgraph = (typeof services)[number];

const fed =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@requires", "@external", "@shareable"])\n';

/** The four subgraphs of the public gateway benchmark (accounts, products, inventory, reviews), named like ours. */
const publicSubgraphs: Partial<Record<Subgraph, string>> = {
  account: `
    type Query { me: User users(first: Int): [User] }
    type User @key(fields: "id") { id: ID! name: String username: String @shareable birthday: Int }
  `,
  images: `
    type Query { topProducts(first: Int = 5): [Product] }
    type Product @key(fields: "upc") { upc: String! name: String price: Int weight: Int }
  `,
  config: `
    type Product @key(fields: "upc") {
      upc: String! weight: Int @external price: Int @external inStock: Boolean
      shippingEstimate: Int @requires(fields: "price weight")
    }
  `,
  "webhook-delivery": `
    type Review @key(fields: "id") { id: ID! body: String product: Product author: User }
    type User @key(fields: "id") { id: ID! username: String @shareable reviews: [Review] }
    type Product @key(fields: "upc") { upc: String! reviews: [Review] }
  `,
};

export function servePublicGraph(opened: AsyncDisposableStack, principal: string): Promise<ServedGraph> {
  const parsed = Object.entries(publicSubgraphs).map(([name, text]) => ({
    name,
    url: `http://${name}/graphql`,
    typeDefs: parse(fed + text),
  }));
  const { supergraphSdl, errors } = composeServices(parsed);
  if (supergraphSdl === undefined) throw new Error(errors?.map(({ message }) => message).join("\n"));
  const documents = new Map(parsed.map(({ name, typeDefs }) => [name, typeDefs]));
  return serve(opened, { supergraphSdl, documents, principal, resolve: publicField });
}

/** Serves the product's own graph, with each field's value derived from its type. */
export async function serveOwnGraph(opened: AsyncDisposableStack, principal: string): Promise<ServedGraph> {
  const read = (path: string) => readFile(new URL(`../services/${path}`, import.meta.url), "utf8");
  const supergraphSdl = await read("gateway/src/generated/supergraph.graphql");
  const documents = new Map<string, DocumentNode>();
  for (const name of services) documents.set(name, parse(await read(`${name}/subgraph.graphql`)));
  return serve(opened, { supergraphSdl, documents, principal, resolve: ownField });
}

interface Members {
  readonly [name: string]: unknown;
}

type Resolve = GraphQLFieldResolver<Members | undefined, unknown, Members>;

interface Graph {
  readonly supergraphSdl: string;
  readonly documents: ReadonlyMap<string, DocumentNode>;
  /** The answer to `POST /internal/principals`, like that of the account service. */
  readonly principal: string;
  readonly resolve: Resolve;
}

async function serve(opened: AsyncDisposableStack, graph: Graph): Promise<ServedGraph> {
  const urls: Record<string, string> = {};
  let { supergraphSdl } = graph;
  for (const name of services) {
    const document = graph.documents.get(name);
    const answer = document && answerer(document, graph.resolve);
    const server = await serveListener(async (request, response) => {
      const body = (await buffer(request)).toString("utf8");
      response.setHeader("content-type", "application/json");
      response.end(request.url === "/graphql" ? await answer?.(body) : graph.principal);
    });
    opened.defer(() => server.close());
    urls[name] = server.url;
    supergraphSdl = supergraphSdl.replace(`url: "http://${name}/graphql"`, `url: "${server.url}/graphql"`);
  }
  return { supergraphSdl, urls };
}

/** Executes requests to a subgraph; repeated ones are answered from memory, so that the gateway is measured. */
function answerer(typeDefs: DocumentNode, fieldResolver: Resolve): (body: string) => Promise<string> {
  const schema = buildSubgraphSchema(typeDefs);
  const known = new Map<string, string>();
  const executed = async (body: string) => {
    const { query, variables } = JSON.parse(body) as { query: string; variables: Members };
    const typeResolver = ({ __typename }: { __typename?: string }) => __typename;
    const request = { schema, document: parse(query), variableValues: variables, fieldResolver, typeResolver };
    return JSON.stringify(await execute(request));
  };
  return async (body) => {
    const text = known.get(body) ?? (await executed(body));
    known.set(body, text);
    return text;
  };
}

const users = Array.from({ length: 6 }, (_, at) => ({ __typename: "User", id: `u${at}` }));
const products = Array.from({ length: 9 }, (_, at) => ({ __typename: "Product", upc: `p${at}` }));
const reviews = Array.from({ length: 11 }, (_, at) => ({
  __typename: "Review",
  id: `r${at}`,
  body: "Love it, prefer something else, too expensive, could be better. ".repeat(3),
  product: products[at % products.length],
  author: users[at % users.length],
}));

/** Derives any field of any type of the public graph from the key of its object. */
function publicField(source: Members | undefined, { first }: Members, _: unknown, { fieldName: name }: FieldInfo) {
  const key = String(source?.upc ?? source?.id);
  if (name === "users") return users.slice(0, Number(first ?? users.length));
  if (name === "topProducts") return products.slice(0, Number(first));
  if (name === "me") return users[0];
  if (name === "reviews") return reviews.filter((_, at) => at % 3 !== key.length % 3).slice(0, 4);
  if (/^(price|weight|birthday|shippingEstimate)$/.test(name)) return key.charCodeAt(1) * 3;
  if (name === "inStock") return true;
  return source?.[name] ?? `${name} of ${key}`;
}

type FieldInfo = Parameters<Resolve>[3];

const ownField: Resolve = (source, args, _, { fieldName, returnType }) =>
  source?.[fieldName] ?? madeUp(returnType, fieldName, args);

/** Builds a value of a type. A page has `first` items, which its edges find in the connection. */
function madeUp(type: GraphQLOutputType, name: string, { first = 20 }: Members, at = 0): unknown {
  const nullable = getNullableType(type);
  if (isListType(nullable))
    return Array.from({ length: 2 }, (_, item) => madeUp(nullable.ofType, name, { first }, item));
  const named = getNamedType(type);
  if (isEnumType(named)) return named.getValues()[0]?.value;
  if (isLeafType(named)) return leafOf(named.name, name, at);
  if (!named.name.endsWith("Connection")) return { __typename: named.name, id: `${named.name}_${at}` };
  const nodes = Array.from({ length: Number(first) }, (_, item) => `${named.name}_${item}`);
  return { edges: nodes.map((id) => ({ cursor: `after ${id}`, node: { id } })) };
}

function leafOf(type: string, name: string, at: number): unknown {
  if (type === "Int" || type === "Float") return name.length * 100 + at;
  if (type === "Boolean") return at % 2 === 0;
  if (type === "DateTime") return "2026-01-01T00:00:00.000Z";
  return `${name} number ${at} of somebody`;
}
