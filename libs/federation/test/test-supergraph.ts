import { composeServices } from "@apollo/composition";
import { Supergraph } from "@apollo/federation-internals";
import { buildSubgraphSchema } from "@apollo/subgraph";
import {
  buildASTSchema,
  buildSchema,
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
  parse,
  printSchema,
} from "graphql";
import { type Executor, openExecutor } from "../src/executor.ts";
import type { SubgraphAnswer, SubgraphRequest } from "../src/subgraphs/subgraph-port.ts";
import { type Thing, World, type WorldRules } from "./world.ts";

export interface SupergraphSource {
  readonly subgraphs: Readonly<Record<string, string>>;
  readonly rules: WorldRules;
}

/** A caller without a budget. */
export const testCaller = { id: "test", admit() {}, charge() {} };

/** Replaces a subgraph's answer; null lets the subgraph answer. */
type Instead = (request: SubgraphRequest<unknown>) => SubgraphAnswer | null;

const fed = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@requires", "@provides",
  "@external", "@shareable", "@override", "@inaccessible", "@interfaceObject"])
`;

/** A supergraph of a few subgraphs in this process, which share one world; and that world as one schema. */
export class TestSupergraph {
  readonly api: GraphQLSchema;
  readonly world: World;
  readonly supergraphSdl: string;
  /** Every request body. */
  readonly sent: { readonly subgraph: string; readonly body: string }[] = [];
  instead: Instead | null = null;
  readonly #schemas: ReadonlyMap<string, GraphQLSchema>;
  #executor: Executor<unknown> | null = null;

  constructor({ subgraphs, rules }: SupergraphSource) {
    const parsed = Object.entries(subgraphs).map(([name, text]) => ({
      name,
      url: `http://${name}`,
      typeDefs: parse(fed + text),
    }));
    const composed = composeServices(parsed);
    if (composed.errors) throw new Error(composed.errors.map(({ message }) => message).join("\n"));
    this.supergraphSdl = composed.supergraphSdl;
    const supergraph = Supergraph.build(this.supergraphSdl, { supportedFeatures: null });
    this.api = buildSchema(printSchema(supergraph.apiSchema().toGraphQLJSSchema()), { assumeValid: true });
    this.world = new World(buildASTSchema(parse(this.supergraphSdl), { assumeValid: true }), this.api, rules);
    this.#schemas = new Map(parsed.map(({ name, typeDefs }) => [name, this.#subgraphOf(typeDefs)]));
  }

  async open(): Promise<Executor<unknown>> {
    this.#executor ??= await openExecutor({
      supergraphSdl: this.supergraphSdl,
      send: (request) => this.#send(request),
      planMsMax: 5_000,
      planBytesMax: 64 * 2 ** 20,
    });
    return this.#executor;
  }

  async close(): Promise<void> {
    await this.#executor?.close();
  }

  /** Executes the document on one schema without subgraphs. */
  async merged(document: DocumentNode, variableValues: Record<string, unknown>): Promise<ExecutionResult> {
    return execute({ schema: this.api, document, variableValues, fieldResolver: this.world.resolve, typeResolver });
  }

  async #send(request: SubgraphRequest<unknown>): Promise<SubgraphAnswer> {
    const { subgraph, body } = request;
    this.sent.push({ subgraph, body });
    const instead = this.instead?.(request);
    if (instead) return instead;
    const schema = this.#schemas.get(subgraph);
    if (!schema) throw new Error(`no subgraph ${subgraph}`);
    const { query, variables } = JSON.parse(body) as { query: string; variables: Record<string, unknown> };
    const result = await execute({
      schema,
      document: parse(query),
      variableValues: variables,
      fieldResolver: this.world.resolve,
      typeResolver,
    });
    return JSON.parse(JSON.stringify(result)) as SubgraphAnswer;
  }

  #subgraphOf(typeDefs: DocumentNode): GraphQLSchema {
    const schema = buildSubgraphSchema(typeDefs);
    const entities = schema.getQueryType()?.getFields()._entities;
    if (entities)
      entities.resolve = (_source, { representations }: { representations: Record<string, unknown>[] }) =>
        representations.map((representation) => this.world.entity(representation, schema));
    return schema;
  }
}

const typeResolver = (value: unknown) => (value as Thing).__typename;
