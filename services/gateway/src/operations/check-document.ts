import { type CheckedDocument, validateDocument } from "@signalbox/http";
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  OverlappingFieldsCanBeMergedRule,
  parse,
  specifiedRules,
  type ValidationRule,
} from "graphql";
import { graphError } from "../documents/graph-error.ts";
import { timesRule } from "../supergraph/check-times.ts";
import { scanDocument } from "./document-scan.ts";
import { assertWithinLimits, type OperationLimits } from "./operation-limits.ts";

export interface DocumentRules extends OperationLimits {
  readonly tokensMax: number;
  /** True when introspection is allowed. */
  readonly introspection: boolean;
}

/** Parses a document, checks its limits and validates it. */
export function checkDocument(
  schema: GraphQLSchema,
  query: string,
  { tokensMax, introspection, ...limits }: DocumentRules,
): CheckedDocument {
  try {
    scanDocument(query, tokensMax);
    const document = parse(query, { maxTokens: tokensMax, noLocation: true });
    assertWithinLimits(document, limits);
    const checked = validateInTurn(schema, query, document, introspection ? openRules : closedRules);
    return introspection || "document" in checked ? checked : { refusal: withoutSuggestions(checked.refusal) };
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return { refusal: [refusalOf(error, tokensMax).toJSON()] };
  }
}

/** Compares each field with all of the same name, so it is by far the slowest rule. */
const pairsRule = OverlappingFieldsCanBeMergedRule;
const openRules = [...specifiedRules.filter((rule) => rule !== pairsRule), timesRule];
const closedRules = [...openRules, NoSchemaIntrospectionCustomRule];

/** Validates with the slowest rule last, so that an invalid document is refused without it. */
function validateInTurn(
  schema: GraphQLSchema,
  query: string,
  document: DocumentNode,
  rules: readonly ValidationRule[],
) {
  const checked = validateDocument(schema, query, document, rules);
  return "refusal" in checked ? checked : validateDocument(schema, query, document, [pairsRule]);
}

/** Removes suggestions: a hidden schema must not be revealed name by name either. */
export const withoutSuggestions = (refusal: Refusal): Refusal =>
  refusal.map((error) => ({ ...error, message: error.message.replace(/ Did you mean .*\?$/s, "") }));

type Refusal = Extract<CheckedDocument, { refusal: unknown }>["refusal"];

/** Converts a parser's error to the code of a limit or of a syntax error. */
function refusalOf(error: GraphQLError, tokensMax: number): GraphQLError {
  if (error.extensions.code !== undefined) return error;
  const tooManyTokens = error.message.includes("token limit") || /more (?:than|that) \d+ tokens/.test(error.message);
  return tooManyTokens ? moreTokens(tokensMax) : invalid(error.message, error);
}

export const moreTokens = (tokensMax: number, more = ""): GraphQLError =>
  graphError("LIMIT_TOKENS", `This document has more than ${tokensMax} tokens.${more}`);

export function invalid(message: string, from?: GraphQLError): GraphQLError {
  return new GraphQLError(message, {
    nodes: from?.nodes ?? null,
    source: from?.source ?? null,
    positions: from?.positions ?? null,
    extensions: { code: "VALIDATION_FAILED" },
  });
}
