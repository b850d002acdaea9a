import {
  type DocumentNode,
  type GraphQLFormattedError,
  type GraphQLSchema,
  parse,
  specifiedRules,
  type ValidationRule,
  validate,
} from "graphql";
import { LRUCache } from "lru-cache";

/** A document that parsed and validated, or the reasons for its refusal. */
export type CheckedDocument =
  | { readonly document: DocumentNode }
  | { readonly refusal: readonly GraphQLFormattedError[] };

interface DocumentCacheOptions<Limits extends object> {
  /** Bound of the memory for remembered documents. */
  readonly bytesMax: number;
  /** The limits of the check, and the schema if it may change. Results under other limits are dropped at once. */
  readonly limits: () => Limits;
  readonly check: (query: string, limits: Limits) => CheckedDocument;
}

/**
 * A cached result: errors of graphql hold the document, its tokens and a stack, so only the text of a refusal is kept.
 */
type Kept = DocumentNode | string;

/** A text larger than this part of the cache is checked each time: a few of them would evict all others. */
const entriesMin = 16;

/**
 * Checks each distinct query text once while it is in use. Clients send the same few texts over and over; other texts
 * take at most `bytesMax`.
 */
export function createDocumentCache<Limits extends object>({ bytesMax, limits, check }: DocumentCacheOptions<Limits>) {
  const kept = new LRUCache<string, Kept>({
    maxSize: bytesMax,
    maxEntrySize: Math.floor(bytesMax / entriesMin),
    sizeCalculation: bytesOf,
  });
  let keptUnder: readonly unknown[] = [];
  return (query: string): CheckedDocument => {
    const current = limits();
    const under = Object.values(current);
    if (under.some((value, at) => value !== keptUnder[at])) {
      kept.clear();
      keptUnder = under;
    }
    const known = kept.get(query);
    if (known !== undefined) return typeof known === "string" ? { refusal: JSON.parse(known) } : { document: known };
    const found = check(query, current);
    kept.set(query, "document" in found ? found.document : JSON.stringify(found.refusal));
    return found;
  };
}

/**
 * Validates a document that was parsed without locations, which would keep every token of the text. Only a refusal
 * parses it once more, to locate the fault for the client.
 */
export function validateDocument(
  schema: GraphQLSchema,
  query: string,
  document: DocumentNode,
  rules: readonly ValidationRule[] = specifiedRules,
): CheckedDocument {
  const [first] = validate(schema, document, rules, { maxErrors: 1 });
  if (!first) return { document };
  // Locating the fault would take as long again.
  if (first.message === abortedMessage) return { refusal: [tooMuchToCompare] };
  const errors = validate(schema, parse(query), rules, { maxErrors: 20 });
  return { refusal: errors.map((error) => ({ ...error.toJSON(), extensions: { code: "VALIDATION_FAILED" } })) };
}

/** graphql-js gives up on fields that take too many comparisons. */
const abortedMessage = "Validation aborted.";
const tooMuchToCompare = {
  message: "This document has too many fields and fragments that must agree with each other.",
  extensions: { code: "LIMIT_COST" },
};

/** Measured with documents of every shape: a node with its place in a list takes 53 to 133 bytes. */
const nodeBytes = 136;
const entryBytes = 512;

/** Estimates the memory of an entry, and never too little. */
export function bytesOf(found: Kept, query: string): number {
  const texts = 2 * query.length + entryBytes;
  return typeof found === "string" ? texts + 2 * found.length : texts + nodeBytes * nodesIn(found);
}

function nodesIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 1;
  for (const member of Object.values(value)) count += nodesIn(member);
  return count;
}
