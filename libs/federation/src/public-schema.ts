import { Supergraph } from "@apollo/federation-internals";
import type { GraphQLSchema } from "graphql";

/**
 * Returns the public schema of a supergraph, with descriptions. Separate from the executor, whose schema stays in its
 * thread.
 */
export function publicSchema(supergraphSdl: string): GraphQLSchema {
  return Supergraph.build(supergraphSdl).apiSchema().toGraphQLJSSchema();
}
