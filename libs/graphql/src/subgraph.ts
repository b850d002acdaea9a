import type { IncomingMessage, RequestListener } from "node:http";
import { buildSubgraphSchema, type GraphQLResolverMap } from "@apollo/subgraph";
import type { Principal } from "@signalbox/auth";
import { AppError, isAppError } from "@signalbox/core";
import type { Logger } from "@signalbox/telemetry";
import { type ExecutionResult, execute, GraphQLError, parse } from "graphql";
import { createDocumentCache } from "./document-cache.ts";
import { toGraphqlError } from "./error-mapping.ts";
import { clientAddressHeader, decodePrincipal, principalHeader } from "./principal-header.ts";
import { type GraphqlRequest, readGraphqlRequest } from "./read-request.ts";
import { scalarResolversOf } from "./scalars.ts";

/** What every resolver of a subgraph receives: who asks, and the request's own data loaders. */
export interface SubgraphContext<Loaders> {
  readonly principal: Principal | null;
  readonly requestId: string;
  /** Where the operation came from; null when the caller of the subgraph does not say. */
  readonly clientAddress: string | null;
  readonly loaders: Loaders;
}

export type Resolvers<Loaders> = Record<
  string,
  // biome-ignore lint/suspicious/noExplicitAny: a resolver's parent and arguments are typed by the schema, not by TypeScript.
  Record<string, (parent: any, args: any, context: SubgraphContext<Loaders>) => unknown>
>;

export interface SubgraphOptions<Loaders> {
  /** The subgraph's whole SDL. The scalars `DateTime` and `JSON` have resolvers here wherever it declares them. */
  readonly typeDefs: string;
  readonly resolvers: Resolvers<Loaders>;
  /** Makes the loaders of one request, so that nothing is cached across requests or principals. */
  readonly createLoaders: (principal: Principal | null) => Loaders;
  readonly log: Logger;
  readonly documentCacheMaxEntries?: number;
}

/**
 * Serves a federation subgraph over HTTP POST. It belongs on the internal listener: it believes the principal header
 * and sets no limits on the document, both of which are the gateway's work.
 */
export function createSubgraph<Loaders>(options: SubgraphOptions<Loaders>): RequestListener {
  const typeDefs = parse(options.typeDefs);
  const resolvers = { ...scalarResolversOf(typeDefs), ...withEntityContext(options.resolvers) } as GraphQLResolverMap;
  const schema = buildSubgraphSchema([{ typeDefs, resolvers }]);
  const checkedDocument = createDocumentCache(schema, options.documentCacheMaxEntries ?? 500);

  async function answer(request: IncomingMessage): Promise<ExecutionResult> {
    const operation = await readGraphqlRequest(request);
    const checked = checkedDocument(operation.query);
    if ("errors" in checked) return { errors: checked.errors.map(toGraphqlError) };
    const result = await execute({
      schema,
      document: checked.document,
      variableValues: operation.variables,
      operationName: operation.operationName,
      contextValue: contextOf(request),
    });
    return withMappedErrors(result, operation);
  }

  function contextOf(request: IncomingMessage): SubgraphContext<Loaders> {
    const principal = decodePrincipal(request.headers[principalHeader]);
    return {
      principal,
      requestId: String(request.headers["x-request-id"] ?? ""),
      clientAddress: request.headers[clientAddressHeader]?.toString() ?? null,
      loaders: options.createLoaders(principal),
    };
  }

  function withMappedErrors(result: ExecutionResult, { operationName }: GraphqlRequest): ExecutionResult {
    if (result.errors === undefined) return result;
    for (const error of result.errors) {
      const cause = error.originalError;
      if (cause === undefined || isAppError(cause)) continue;
      options.log.error({ error: cause, path: error.path?.join("."), operationName }, "a resolver failed");
    }
    return { ...result, errors: result.errors.map(toGraphqlError) };
  }

  return (request, response) => {
    void answer(request)
      .catch((error: Error) => {
        if (!isAppError(error)) options.log.error({ error }, "a subgraph request failed");
        return { errors: [toGraphqlError(new GraphQLError(error.message, { originalError: error }))] };
      })
      .then((result) => {
        const body = Buffer.from(JSON.stringify(result));
        response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
        response.end(body);
      });
  };
}

/**
 * Apollo calls `__resolveReference(reference, context)`, unlike every other resolver. Ours are all called alike, because
 * one that read its principal from the wrong argument would find none to refuse.
 */
function withEntityContext<Loaders>(resolvers: Resolvers<Loaders>): Record<string, Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(resolvers).map(([type, fields]) => {
      const resolve = fields.__resolveReference;
      if (!resolve) return [type, fields];
      const adapted = (reference: unknown, context: SubgraphContext<Loaders>) => resolve(reference, {}, context);
      return [type, { ...fields, __resolveReference: adapted }];
    }),
  );
}

/** The principal of a field that needs one. @throws AppError `unauthorized` when the caller is anonymous. */
export function requirePrincipal(context: SubgraphContext<unknown>): Principal {
  if (context.principal === null) throw new AppError("unauthorized", "Send credentials.");
  return context.principal;
}
