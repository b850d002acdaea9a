import {
  buildASTSchema,
  type ConstDirectiveNode,
  type DocumentNode,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
} from "graphql";
import { printArguments } from "../documents/argument-values.ts";

/** One field on the path to a required field. */
interface Step {
  readonly parent: string;
  /** Names of the object types that its parent can have. */
  readonly objects: ReadonlySet<string>;
  readonly name: string;
  readonly args: string;
}

interface RequiredPath {
  /** The field that requires it, as `Type.field`. */
  readonly by: string;
  readonly steps: readonly Step[];
}

/** Finds the names of the fields that entities of a supergraph require of each other. */
export function requiredFields(supergraph: GraphQLSchema): ReadonlySet<string> {
  return new Set(requiredPathsOf(supergraph).flatMap(({ steps }) => steps.map(({ name }) => name)));
}

/**
 * Refuses a supergraph that requires a field with different arguments for one object. A plan fetches required fields
 * under their own names, so the planner would keep one of the two values and answer both with it, without an error.
 */
export function assertNoConflict(supergraph: DocumentNode): void {
  const paths = requiredPathsOf(buildASTSchema(supergraph, { assumeValid: true }));
  const argsOf = Map.groupBy(
    paths.flatMap(({ steps }) => steps),
    ({ name }) => name,
  );
  const varied = (name: string) => new Set(argsOf.get(name)?.map(({ args }) => args)).size > 1;
  const suspects = paths.filter(({ steps }) => steps.some(({ name }) => varied(name)));
  for (const one of suspects)
    for (const other of suspects) {
      const [first, second] = conflictOf(one.steps, other.steps) ?? [];
      if (first && second)
        throw new Error(
          `${one.by} requires ${printed(first)}, and ${other.by} requires ${printed(second)} of the same object. ` +
            "The planner can fetch only one of them. Give each of the values a field of its own.",
        );
    }
}

const printed = ({ parent, name, args }: Step) => `${parent}.${name}${args === "" ? "" : `(${args})`}`;

const doOverlap = (one: ReadonlySet<string>, other: ReadonlySet<string>) => [...one].some((name) => other.has(name));

/** Finds a field that both paths have in one place with different arguments. The second may begin along the first. */
function conflictOf(one: readonly Step[], other: readonly Step[]): readonly [Step, Step] | null {
  for (const start of one.keys())
    for (const [at, second] of other.entries()) {
      const first = one[start + at];
      if (first?.name !== second.name || !doOverlap(first.objects, second.objects)) break;
      if (first.args !== second.args) return [first, second];
    }
  return null;
}

function requiredPathsOf(schema: GraphQLSchema): RequiredPath[] {
  return Object.values(schema.getTypeMap()).flatMap((type) => {
    if (!isObjectType(type) && !isInterfaceType(type)) return [];
    return Object.values(type.getFields()).flatMap(({ name, astNode }) =>
      (astNode?.directives ?? []).flatMap(requiresOf).flatMap((fields) => {
        const [operation] = parse(`{${fields}}`, { noLocation: true }).definitions as [OperationDefinitionNode];
        const by = `${type.name}.${name}`;
        return pathsIn(schema, type.name, operation.selectionSet).map((steps) => ({ by, steps }));
      }),
    );
  });
}

const requiresOf = ({ arguments: given = [] }: ConstDirectiveNode): string[] =>
  given.flatMap(({ name, value }) => (name.value === "requires" && value.kind === Kind.STRING ? [value.value] : []));

function pathsIn(schema: GraphQLSchema, parent: string, { selections }: SelectionSetNode): Step[][] {
  const type = schema.getType(parent);
  const objects = new Set(isAbstractType(type) ? schema.getPossibleTypes(type).map(({ name }) => name) : [parent]);
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return [];
    if (selection.kind === Kind.INLINE_FRAGMENT)
      return pathsIn(schema, selection.typeCondition?.name.value ?? parent, selection.selectionSet);
    const name = selection.name.value;
    const step: Step = { parent, objects, name, args: printArguments(selection.arguments) };
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
    if (!selection.selectionSet || !field) return [[step]];
    return pathsIn(schema, getNamedType(field.type).name, selection.selectionSet).map((below) => [step, ...below]);
  });
}
