import { type DocumentNode, Kind, type OperationDefinitionNode, type SelectionNode, visit } from "graphql";
import type { Variables } from "./argument-values.ts";

/** The values of the variables that `@skip` and `@include` use. */
export type Conditions = ReadonlyMap<string, boolean>;

const names = new WeakMap<DocumentNode, readonly string[]>();

/** Reads the conditions of a document from a request's variables. */
export function conditionsOf(document: DocumentNode, operation: OperationDefinitionNode, given: Variables): Conditions {
  const known = names.get(document) ?? conditionNames(document);
  names.set(document, known);
  return new Map(known.map((name) => [name, conditionValue(operation, given, name)]));
}

/** Prints the conditions, as a key of a document's variants. */
export const printConditions = (conditions: Conditions): string =>
  [...conditions.values()].map((value) => (value ? "1" : "0")).join("");

/** Returns true when `@skip` or `@include` excludes a selection. */
export function isLeftOut({ directives = [] }: SelectionNode, conditions: Conditions): boolean {
  return directives.some(({ name, arguments: given }) => {
    if (name.value !== "skip" && name.value !== "include") return false;
    const value = given?.find((argument) => argument.name.value === "if")?.value;
    const isTrue = value?.kind === Kind.VARIABLE ? conditions.get(value.name.value) : isTrueLiteral(value);
    return isTrue === (name.value === "skip");
  });
}

const isTrueLiteral = (value: { kind: string } | undefined) =>
  value?.kind === Kind.BOOLEAN && (value as { value?: boolean }).value === true;

function conditionNames(document: DocumentNode): string[] {
  const found = new Set<string>();
  visit(document, {
    Directive({ name, arguments: given }) {
      const value = given?.[0]?.value;
      if (/^(skip|include)$/.test(name.value) && value?.kind === Kind.VARIABLE) found.add(value.name.value);
    },
  });
  return [...found];
}

function conditionValue(
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: Variables,
  name: string,
): boolean {
  if (Object.hasOwn(given, name) && given[name] !== undefined) return given[name] === true;
  const declared = variableDefinitions.find(({ variable }) => variable.name.value === name)?.defaultValue;
  return isTrueLiteral(declared);
}
