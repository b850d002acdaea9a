import { asyncApiDocument } from "@signalbox/contracts";
import { AppError } from "@signalbox/core";
import { createDocumentAnswer, createRoutes, type Routes, variesByCoding } from "@signalbox/http";
import { type GraphQLSchema, printSchema } from "graphql";
import { stringify } from "yaml";

export interface ReferenceDependencies {
  /** The current public schema. */
  readonly schema: () => GraphQLSchema;
  /** False hides the schema here too, like introspection. */
  readonly showsSchema: () => boolean;
}

const types = {
  yaml: "application/yaml",
  graphql: "application/graphql",
};
const cache = "public, max-age=300";

/** Serves the documents of events and schema. */
export function referenceRoutes({ schema, showsSchema }: ReferenceDependencies): Routes {
  const routes = createRoutes();
  // Built at the first request, so that no start waits for it.
  let asyncApi: ReturnType<typeof createDocumentAnswer> | undefined;
  const schemaAnswers = new WeakMap<GraphQLSchema, ReturnType<typeof createDocumentAnswer>>();

  routes.get("/asyncapi.yaml", {
    operationId: "asyncApiDocument",
    summary: "Read the AsyncAPI document of all events",
    description: "AsyncAPI 3.0: topics, events, schemas and examples.",
    auth: "anonymous",
    responses: { 200: { content: [types.yaml], example: "asyncapi: 3.0.0\n" } },
    cache,
    vary: variesByCoding,
    handle: ({ headers }) => {
      asyncApi ??= createDocumentAnswer(asyncApiText(), types.yaml);
      return asyncApi(headers);
    },
  });

  routes.get("/schema.graphql", {
    operationId: "graphqlSchema",
    summary: "Read the schema of the graph",
    description: "The public schema in the GraphQL schema language.",
    auth: "anonymous",
    responses: { 200: { content: [types.graphql], example: "type Query {\n  viewer: Account\n}\n" }, 404: "error" },
    cache,
    vary: variesByCoding,
    handle: ({ headers }) => {
      if (!showsSchema()) throw new AppError("not_found", "This deployment does not show its schema.");
      const current = schema();
      const type = `${types.graphql}; charset=utf-8`;
      const answer = schemaAnswers.get(current) ?? createDocumentAnswer(printSchema(current), type);
      schemaAnswers.set(current, answer);
      return answer(headers);
    },
  });
  return routes;
}

const asyncApiText = () => stringify(asyncApiDocument(), { lineWidth: 0, aliasDuplicateObjects: false });
