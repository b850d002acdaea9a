export { takeAccessChanges } from "./access-changes.ts";
export { type ConnectionSpec, connectionArguments, connectionField, type PageLimits } from "./connection-field.ts";
export { type CheckedDocument, createDocumentCache, validateDocument } from "./document-cache.ts";
export { type FieldAccess, field, isDeclared, type Resolve } from "./field.ts";
export { replayedExtension } from "./keyed-mutation.ts";
export { createLoader, createPerRequest, type Load, requestLoader } from "./loader.ts";
export { filterFrom, mutation, refusalError, toWire } from "./mutation.ts";
export {
  clientAddressHeader,
  encodeOperationKey,
  encodePrincipal,
  forwardedCaller,
  operationKeyHeader,
  principalHeader,
} from "./principal-header.ts";
export { type RequestMembers, requestMembersFrom } from "./read-request.ts";
export { createSubgraph, type Resolvers, type SubgraphOptions } from "./subgraph.ts";
export type { SubgraphContext } from "./subgraph-context.ts";
