import { GraphQLError, Lexer, Source, TokenKind } from "graphql";
import { graphError } from "../documents/graph-error.ts";

const [invalid, tooDeep] = ["VALIDATION_FAILED", "LIMIT_DEPTH"] as const;
/** Equals the limit of JSON: values can be sent as variables or literals. */
const valueDepthMax = 64;
/** Each level of lists in a literal doubles the work of the planner: 24 take ten seconds. Variables bypass it. */
const literalListsMax = 8;
/** Far above every limit of depth, and below the stack limit of a recursive reader. */
const selectionDepthMax = 1_000;
/** Suggestions for a misspelt name compare its characters: a name of a megabyte takes 100 ms. */
const nameCharactersMax = 4_096;

/**
 * Refuses a document that nests too deep, before any recursive reader, names that are longer than any, and numbers that
 * JSON would change on their way to a service.
 */
export function scanDocument(query: string, tokensMax: number): void {
  const lexer = new Lexer(new Source(query));
  const open = { parentheses: 0, objects: 0, lists: 0, selections: 0 };
  // The parser refuses documents with more tokens.
  for (let count = 0; count <= tokensMax; count++) {
    const token = lexer.advance();
    if (token.kind === TokenKind.EOF) return;
    if (token.kind === TokenKind.INT || token.kind === TokenKind.FLOAT) assertKept(token.value);
    if (token.kind === TokenKind.NAME && token.value.length > nameCharactersMax)
      throw graphError(invalid, `A name has at most ${nameCharactersMax} characters.`);
    const step = steps[token.kind] ?? 0;
    if (step === 0) continue;
    open[placeOf(token.kind, open.parentheses)] += step;
    if (open.lists > literalListsMax)
      throw graphError(
        tooDeep,
        `Lists are nested more than ${literalListsMax} levels deep. Send this value as a variable.`,
      );
    if (open.objects + open.lists > valueDepthMax)
      throw graphError(tooDeep, `A value is nested more than ${valueDepthMax} levels deep.`);
    if (open.selections > selectionDepthMax) throw graphError(tooDeep, "This document is nested too deeply.");
  }
}

/** Returns true when a text has more tokens than `max`. A short text is not read: a token has a character at least. */
export const hasMoreTokens = (query: string, max: number): boolean =>
  query.length > max && countTokens(query, max + 1) > max;

/** Counts the tokens of a text up to its end, its first error or `max`. */
export function countTokens(query: string, max: number): number {
  const lexer = new Lexer(new Source(query));
  let count = 0;
  try {
    while (count < max && lexer.advance().kind !== TokenKind.EOF) count++;
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
  }
  return count;
}

const steps: Readonly<Partial<Record<TokenKind, 1 | -1>>> = {
  [TokenKind.PAREN_L]: 1,
  [TokenKind.PAREN_R]: -1,
  [TokenKind.BRACE_L]: 1,
  [TokenKind.BRACE_R]: -1,
  [TokenKind.BRACKET_L]: 1,
  [TokenKind.BRACKET_R]: -1,
};

/** Tells arguments and variables, which are in parentheses, from selections. */
function placeOf(kind: TokenKind, parentheses: number): "parentheses" | "objects" | "lists" | "selections" {
  if (kind === TokenKind.PAREN_L || kind === TokenKind.PAREN_R) return "parentheses";
  if (kind === TokenKind.BRACKET_L || kind === TokenKind.BRACKET_R) return "lists";
  return parentheses > 0 ? "objects" : "selections";
}

function assertKept(digits: string): void {
  const number = Number(digits);
  const isKept = /[.eE]/.test(digits) ? Number.isFinite(number) : Number.isSafeInteger(number);
  if (!isKept) throw graphError(invalid, `The number ${digits.slice(0, 40)} cannot be represented exactly.`);
}
