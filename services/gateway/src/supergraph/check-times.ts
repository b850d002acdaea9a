import { parseRfc3339, timeExample } from "@signalbox/core";
import {
  type ArgumentNode,
  type ASTNode,
  type ASTVisitor,
  GraphQLError,
  type GraphQLSchema,
  getNamedType,
  isScalarType,
  Kind,
  type ObjectFieldNode,
  print,
  type ValidationContext,
  type ValueNode,
  type VariableDefinitionNode,
  valueFromASTUntyped,
} from "graphql";

const scalarName = "DateTime";

/**
 * Makes a schema refuse variables that are no times, so that no subgraph is asked with one. Literals are left to
 * `timesRule`, which names their arguments.
 */
export function checkTimeVariables(schema: GraphQLSchema): void {
  const dateTime = schema.getType(scalarName);
  if (!isScalarType(dateTime)) return;
  dateTime.parseValue = (value) => {
    if (isTime(value)) return value;
    throw new Error(`Use RFC 3339, such as ${timeExample}.`);
  };
  dateTime.parseLiteral = valueFromASTUntyped;
}

/** A rule of validation: each time that is written in a document is one. */
export function timesRule(context: ValidationContext): ASTVisitor {
  const check = (node: ValueNode, _key: unknown, parent: unknown, _path: unknown, above: readonly unknown[]) => {
    if (getNamedType(context.getInputType())?.name !== scalarName) return;
    if (node.kind === Kind.STRING && isTime(node.value)) return;
    const message = `"${nameOf([...above, parent])}" is ${print(node).slice(0, 40)}, which is not a ${scalarName}: use RFC 3339, such as "${timeExample}".`;
    context.reportError(new GraphQLError(message, { nodes: node }));
  };
  return {
    StringValue: check,
    IntValue: check,
    FloatValue: check,
    BooleanValue: check,
    EnumValue: check,
    ObjectValue: check,
  };
}

const isTime = (value: unknown): boolean => typeof value === "string" && parseRfc3339(value) !== null;

/** Returns the name of the argument, member or variable that a value was given to. */
function nameOf(above: readonly unknown[]): string {
  const holder = (above as readonly ASTNode[]).findLast(isHolder);
  if (holder?.kind === Kind.VARIABLE_DEFINITION) return `$${holder.variable.name.value}`;
  return holder?.name.value ?? "";
}

const isHolder = (node: ASTNode): node is ArgumentNode | ObjectFieldNode | VariableDefinitionNode =>
  node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD || node.kind === Kind.VARIABLE_DEFINITION;
