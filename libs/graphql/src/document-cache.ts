import { type DocumentNode, type GraphQLError, type GraphQLSchema, parse, validate } from "graphql";
import { LRUCache } from "lru-cache";

/** A document that parsed and validated, or the reasons why it did not. */
export type CheckedDocument = { readonly document: DocumentNode } | { readonly errors: readonly GraphQLError[] };

/** Parses and validates each distinct query text once. The gateway sends the same few texts over and over. */
export function createDocumentCache(schema: GraphQLSchema, maxEntries: number): (query: string) => CheckedDocument {
  const checked = new LRUCache<string, CheckedDocument>({ max: maxEntries });
  return (query) => {
    const known = checked.get(query);
    if (known !== undefined) return known;
    const fresh = check(schema, query);
    checked.set(query, fresh);
    return fresh;
  };
}

function check(schema: GraphQLSchema, query: string): CheckedDocument {
  try {
    const document = parse(query, { maxTokens: 20_000 });
    const errors = validate(schema, document, undefined, { maxErrors: 20 });
    return errors.length === 0 ? { document } : { errors };
  } catch (error) {
    return { errors: [error as GraphQLError] };
  }
}
