import { composeServices } from "@apollo/composition";
import { buildSubgraphSchema } from "@apollo/subgraph";
import { execute, type GraphQLSchema, parse } from "graphql";

const fed =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@requires", "@external", "@shareable"])\n';

/** The four subgraphs of the public gateway benchmark. */
const subgraphs: Readonly<Record<string, string>> = {
  accounts: `
    type Query { me: User users(first: Int): [User] }
    type User @key(fields: "id") { id: ID! name: String username: String @shareable birthday: Int }
  `,
  products: `
    type Query { topProducts(first: Int = 5): [Product] }
    type Product @key(fields: "upc") { upc: String! name: String price: Int weight: Int }
  `,
  inventory: `
    type Product @key(fields: "upc") {
      upc: String! weight: Int @external price: Int @external inStock: Boolean
      shippingEstimate: Int @requires(fields: "price weight")
    }
  `,
  reviews: `
    type Review @key(fields: "id") { id: ID! body: String product: Product author: User }
    type User @key(fields: "id") { id: ID! username: String @shareable reviews: [Review] }
    type Product @key(fields: "upc") { upc: String! reviews: [Review] }
  `,
};

const users = Array.from({ length: 6 }, (_, at) => ({ __typename: "User", id: `u${at}` }));
const products = Array.from({ length: 9 }, (_, at) => ({ __typename: "Product", upc: `p${at}` }));
const reviews = Array.from({ length: 11 }, (_, at) => ({
  __typename: "Review",
  id: `r${at}`,
  body: "Love it, prefer something else, too expensive, could be better. ".repeat(3),
  product: products[at % products.length],
  author: users[at % users.length],
}));

type Members = Readonly<Record<string, unknown>>;

/** Derives any field of any type from the key of its object. */
function fieldOf(source: Members | undefined, name: string, first: unknown): unknown {
  const key = String(source?.upc ?? source?.id);
  if (name === "users") return users.slice(0, Number(first ?? users.length));
  if (name === "topProducts") return products.slice(0, Number(first));
  if (name === "me") return users[0];
  if (name === "reviews") return reviews.filter((_, at) => at % 3 !== key.length % 3).slice(0, 4);
  if (/^(price|weight|birthday|shippingEstimate)$/.test(name)) return key.charCodeAt(1) * 3;
  if (name === "inStock") return true;
  return source?.[name] ?? `${name} of ${key}`;
}

export interface BenchGraph {
  readonly supergraphSdl: string;
  /** Answers a request to a subgraph; repeated ones from memory, so that the executor is measured. */
  answer(subgraph: string, body: string): Promise<string>;
}

export function openBenchGraph(): BenchGraph {
  const parsed = Object.entries(subgraphs).map(([name, text]) => ({
    name,
    url: `http://${name}`,
    typeDefs: parse(fed + text),
  }));
  const composed = composeServices(parsed);
  if (composed.errors) throw new Error(composed.errors.map(({ message }) => message).join("\n"));
  const schemas = new Map(parsed.map(({ name, typeDefs }) => [name, buildSubgraphSchema(typeDefs)]));
  const answers = new Map<string, string>();
  return {
    supergraphSdl: composed.supergraphSdl,
    async answer(subgraph, body) {
      const key = `${subgraph} ${body}`;
      const known = answers.get(key);
      const text = known ?? (await answered(schemas.get(subgraph), body));
      if (known === undefined) answers.set(key, text);
      return text;
    },
  };
}

async function answered(schema: GraphQLSchema | undefined, body: string): Promise<string> {
  if (!schema) throw new Error("there is no such subgraph");
  const { query, variables } = JSON.parse(body) as { query: string; variables: Members };
  const result = await execute({
    schema,
    document: parse(query),
    variableValues: variables,
    fieldResolver: (source: Members | undefined, { first }: { first?: unknown }, _context, { fieldName }) =>
      fieldOf(source, fieldName, first),
  });
  return JSON.stringify(result);
}
