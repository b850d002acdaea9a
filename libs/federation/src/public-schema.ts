import { Supergraph } from "@apollo/federation-internals";
import type { GraphQLSchema } from "graphql";

/** Gives the schema that clients see of a supergraph, with its descriptions. Apart from the executor, whose thread knows it alone. */
export function publicSchema(supergraphSdl: string): GraphQLSchema {
  return Supergraph.build(supergraphSdl).apiSchema().toGraphQLJSSchema();
}
