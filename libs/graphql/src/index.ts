export { type ConnectionArguments, type ConnectionPage, connection, connectionArguments } from "./connection.ts";
export { graphqlCodeOf, toGraphqlError } from "./error-mapping.ts";
export { type MutationError, type MutationPayload, mutationPayload } from "./mutation-payload.ts";
export { clientAddressHeader, decodePrincipal, encodePrincipal, principalHeader } from "./principal-header.ts";
export { type GraphqlRequest, graphqlRequestFrom } from "./read-request.ts";
export {
  createSubgraph,
  type Resolvers,
  requirePrincipal,
  type SubgraphContext,
  type SubgraphOptions,
} from "./subgraph.ts";
