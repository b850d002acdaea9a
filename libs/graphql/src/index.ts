export { type ConnectionArguments, type ConnectionPage, connection, connectionArguments } from "./connection.ts";
export { type ConnectionSpec, connectionField, type PageLimits } from "./connection-field.ts";
export { graphqlCodeOf, toGraphqlError } from "./error-mapping.ts";
export { type Field, type FieldAccess, field, isDeclared } from "./field.ts";
export { createLoader, type Load } from "./loader.ts";
export { type MutationSpec, mutation } from "./mutation.ts";
export { type MutationError, type MutationPayload, mutationPayload } from "./mutation-payload.ts";
export { parseInput, refusalError, toWire } from "./parse-input.ts";
export { clientAddressHeader, decodePrincipal, encodePrincipal, principalHeader } from "./principal-header.ts";
export { type GraphqlRequest, graphqlRequestFrom } from "./read-request.ts";
export {
  createSubgraph,
  type Resolvers,
  requirePrincipal,
  type SubgraphContext,
  type SubgraphOptions,
} from "./subgraph.ts";
