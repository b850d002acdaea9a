import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isUnionType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql";
import { argumentNamed, type CanonicalVariable, printArguments, variableTypeOf } from "./argument-values.ts";
import { CanonicalSelection, ResponseNames } from "./canonical-selection.ts";
import { type Conditions, isLeftOut } from "./conditions.ts";

export interface AskedField {
  readonly responseName: string;
  /** Canonical response name, which the planner and the subgraphs use. */
  readonly canonicalName: string;
  readonly node: FieldNode;
  /** Null for `__schema` and `__type`, which subgraphs do not resolve. */
  readonly type: GraphQLOutputType | null;
  /** Object types to which the field is restricted; null for all. */
  readonly onTypes: ReadonlySet<string> | null;
  readonly selection: AskedSelection | null;
}

/** The client's selection on one object, in its order and with its names. */
export type AskedSelection = AskedField[];

export interface CanonicalOperation {
  /** Text to plan; null when no subgraph is needed. */
  readonly text: string | null;
  readonly variables: readonly CanonicalVariable[];
  readonly asked: AskedSelection;
  readonly fieldCount: number;
}

export interface CanonicalRules {
  readonly schema: GraphQLSchema;
  /** Fields that the planner may request itself, with other arguments. */
  readonly reserved: ReadonlySet<string>;
}

interface Walk {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly conditions: Conditions;
  readonly variables: CanonicalVariable[];
  readonly isMutation: boolean;
  fieldCount: number;
}

interface Place {
  readonly type: GraphQLCompositeType;
  readonly onTypes: ReadonlySet<string> | null;
  readonly canonical: CanonicalSelection;
  readonly asked: AskedSelection;
  readonly isRoot: boolean;
}

/**
 * Converts a valid operation into the canonical form of its shape, and keeps the client's name of each field. `@skip`
 * and `@include` are applied here, so a shape is planned once for each combination of their values.
 */
export function canonicalOperation(
  { schema, reserved }: CanonicalRules,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  conditions: Conditions,
): CanonicalOperation {
  const type = schema.getRootType(operation.operation);
  if (!type) throw new Error(`no root type for ${operation.operation}`);
  const definitions = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  const fragments = (definitions as FragmentDefinitionNode[]).map((node) => [node.name.value, node] as const);
  const isMutation = operation.operation === "mutation";
  const walk: Walk = { schema, fragments: new Map(fragments), conditions, variables: [], isMutation, fieldCount: 0 };
  const canonical = new CanonicalSelection(new ResponseNames(reserved));
  const asked: AskedSelection = [];
  addSelections(walk, operation.selectionSet, { type, onTypes: null, canonical, asked, isRoot: true });
  const { variables, fieldCount } = walk;
  const declared = variables.map((variable) => `$${variable.name}:${variable.type}`).join();
  const head = `${operation.operation}${declared === "" ? "" : `(${declared})`}`;
  return { text: canonical.isEmpty ? null : head + canonical.print(), variables, asked, fieldCount };
}

function addSelections(walk: Walk, { selections }: SelectionSetNode, place: Place): void {
  for (const selection of selections) {
    if (isLeftOut(selection, walk.conditions)) continue;
    if (selection.kind === Kind.FIELD) addField(walk, selection, place);
    else {
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? walk.fragments.get(selection.name.value) : selection;
      if (!fragment) continue;
      const inner = narrowed(walk, place, fragment.typeCondition?.name.value);
      if (inner) addSelections(walk, fragment.selectionSet, inner);
    }
  }
}

/** Returns the place for the members of a fragment; null when no object can have its type. */
function narrowed({ schema }: Walk, place: Place, name: string | undefined): Place | null {
  const type = name === undefined ? place.type : schema.getType(name);
  if (!isCompositeType(type)) return null;
  if (type === place.type || (isAbstractType(type) && isSubType(schema, type, place.type))) return place;
  const here = place.onTypes ?? new Set(namesOf(schema, place.type));
  const names = namesOf(schema, type).filter((name) => here.has(name));
  if (names.length === 0) return null;
  return { ...place, type, onTypes: new Set(names), canonical: place.canonical.narrowedTo(type.name) };
}

const namesOf = (schema: GraphQLSchema, type: GraphQLCompositeType) =>
  (isAbstractType(type) ? schema.getPossibleTypes(type) : [type]).map(({ name }) => name);

const isSubType = (schema: GraphQLSchema, type: GraphQLCompositeType, other: GraphQLCompositeType) =>
  isAbstractType(type) && !isUnionType(other) && schema.isSubType(type, other);

function addField(walk: Walk, node: FieldNode, place: Place): void {
  const name = node.name.value;
  const responseName = node.alias?.value ?? name;
  const { onTypes } = place;
  walk.fieldCount++;
  const field = isUnionType(place.type) ? undefined : place.type.getFields()[name];
  if (!field) {
    // The type of an object is known; that of an interface is not, and the planner has to find a subgraph that knows
    // it. It fails for an interface without objects, which only an `@interfaceObject` can return.
    const isUnknown = isAbstractType(place.type) && walk.schema.getPossibleTypes(place.type).length > 0;
    if (name === "__typename" && (isUnknown || onTypes))
      place.canonical.fields.set(name, { head: name, selection: null });
    place.asked.push({ responseName, canonicalName: name, node, type: null, onTypes, selection: null });
    return;
  }
  const { type } = field;
  const { names } = place.canonical;
  const isRun = walk.isMutation && place.isRoot;
  const canonicalName = names.nameOf(field, printArguments(node.arguments), responseName, isRun);
  const below = canonicalField(walk, node, field, place.canonical, canonicalName);
  const asked = place.asked.find(
    (other) => other.responseName === responseName && other.onTypes === onTypes && other.selection !== null,
  );
  const selection = below ? (asked?.selection ?? []) : null;
  if (!asked) place.asked.push({ responseName, canonicalName, node, type, onTypes, selection });
  const inner = getNamedType(type);
  if (!below || !selection || !node.selectionSet || !isCompositeType(inner)) return;
  addSelections(walk, node.selectionSet, {
    type: inner,
    onTypes: null,
    canonical: below,
    asked: selection,
    isRoot: false,
  });
}

function canonicalField(
  walk: Walk,
  node: FieldNode,
  field: GraphQLField<unknown, unknown>,
  canonical: CanonicalSelection,
  canonicalName: string,
): CanonicalSelection | null {
  const known = canonical.fields.get(canonicalName);
  if (known) return known.selection;
  const selection = node.selectionSet ? new CanonicalSelection(canonical.names.below(canonicalName)) : null;
  const args = (node.arguments ?? []).map((argument) => {
    const type = variableTypeOf(argumentNamed(field.args, argument.name.value));
    const name = `_v${walk.variables.length}`;
    walk.variables.push({ name, type, value: argument.value });
    return `${argument.name.value}:$${name}`;
  });
  const alias = canonicalName === field.name ? "" : `${canonicalName}:`;
  const head = `${alias}${field.name}${args.length === 0 ? "" : `(${args.join()})`}`;
  canonical.fields.set(canonicalName, { head, selection });
  return selection;
}
