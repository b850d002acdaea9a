import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { buildSubgraphSchema } from "@apollo/subgraph";
import {
  execute,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isLeafType,
  isListType,
  parse,
} from "graphql";
import { openBenchGraph } from "./federation-graph.ts";

/** A supergraph whose subgraphs are listeners of this process, named as in our gateway. */
export interface ServedGraph {
  readonly supergraphSdl: string;
  /** The URLs by subgraph name. */
  readonly urls: ReadonlyMap<string, string>;
  close(): Promise<void>;
}

const services = ["account", "images", "config", "webhook-ingest", "webhook-delivery"] as const;

/** The subgraphs of the public gateway benchmark, by the names of our services. */
const stageNames = { accounts: "account", products: "images", inventory: "config", reviews: "webhook-delivery" };

export function servePublicGraph(principal: PrincipalAnswer): Promise<ServedGraph> {
  const { supergraphSdl, answer } = openBenchGraph();
  const answers = Object.entries(stageNames).map(
    ([name, service]) => [service, (body: string) => answer(name, body)] as const,
  );
  const renamed = Object.entries(stageNames).reduce(
    (sdl, [name, service]) =>
      sdl.replace(`name: "${name}", url: "http://${name}"`, `name: "${service}", url: "http://${service}/graphql"`),
    supergraphSdl,
  );
  return serve(renamed, new Map(answers), principal);
}

/** Serves the product's own graph, with each field's value derived from its type. */
export async function serveOwnGraph(principal: PrincipalAnswer): Promise<ServedGraph> {
  const answers = new Map<string, Answer>();
  for (const name of services) {
    const typeDefs = parse(await readFile(new URL(`../services/${name}/subgraph.graphql`, import.meta.url), "utf8"));
    const schema = buildSubgraphSchema(typeDefs);
    answers.set(
      name,
      remembered((body) => madeUp(schema, body)),
    );
  }
  const composed = new URL("../services/gateway/src/generated/supergraph.graphql", import.meta.url);
  return serve(await readFile(composed, "utf8"), answers, principal);
}

type Answer = (body: string) => Promise<string>;
/** Answers `POST /internal/principals`, like the account service. */
type PrincipalAnswer = (body: string) => string;

async function serve(
  supergraphSdl: string,
  answers: ReadonlyMap<string, Answer>,
  principal: PrincipalAnswer,
): Promise<ServedGraph> {
  const urls = new Map<string, string>();
  const servers: Server[] = [];
  for (const name of services) {
    const server = createServer(async (request, response) => {
      const body = (await buffer(request)).toString("utf8");
      response.setHeader("content-type", "application/json");
      const isGraph = request.url === "/graphql";
      response.end(isGraph ? await answers.get(name)?.(body) : principal(body));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    urls.set(name, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    servers.push(server);
  }
  const addressed = [...urls].reduce(
    (sdl, [name, url]) => sdl.replace(`url: "http://${name}/graphql"`, `url: "${url}/graphql"`),
    supergraphSdl,
  );
  return {
    supergraphSdl: addressed,
    urls,
    async close() {
      for (const server of servers) server.closeAllConnections();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

/** Caches answers, so that the gateway is measured. */
function remembered(answer: Answer): Answer {
  const known = new Map<string, string>();
  return async (body) => {
    const text = known.get(body) ?? (await answer(body));
    known.set(body, text);
    return text;
  };
}

interface Members {
  readonly [name: string]: unknown;
}

async function madeUp(schema: GraphQLSchema, body: string): Promise<string> {
  const { query, variables } = JSON.parse(body) as { query: string; variables: Members };
  const result = await execute({
    schema,
    document: parse(query),
    variableValues: variables,
    fieldResolver: (source: Members | undefined, args: Members, _context, { fieldName, returnType }) =>
      source?.[fieldName] ?? madeUpValue(returnType, fieldName, args),
    typeResolver: ({ __typename }: { __typename?: string }) => __typename,
  });
  return JSON.stringify(result);
}

/** Builds a value of a type. A page has `first` items, which its edges find in the connection. */
function madeUpValue(type: GraphQLOutputType, name: string, { first = 20 }: Members, at = 0): unknown {
  const nullable = getNullableType(type);
  if (isListType(nullable))
    return Array.from({ length: 2 }, (_, item) => madeUpValue(nullable.ofType, name, { first }, item));
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
