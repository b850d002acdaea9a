import {
  type GraphQLCompositeType,
  type GraphQLLeafType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from "graphql";
import type { AskedField, AskedSelection } from "../documents/canonical-operation.ts";
import { isAbsent, memberOf, type Parts, type PlanScope } from "../planning/plan-scope.ts";
import type { TypeNames } from "../planning/representation.ts";
import { Missing, type Path } from "../subgraphs/missing.ts";
import type { Loss } from "../subgraphs/subgraph-port.ts";
import type { Answer } from "./answer.ts";
import { objectsIn } from "./introspection.ts";
import { leafItem, leafWriter, valueWriter, type WriteValue } from "./value-writer.ts";

/** The input from which writers are compiled. */
export interface WriterPlan {
  readonly schema: GraphQLSchema;
  readonly types: TypeNames;
  /** Returns the subgraph of a fetch, by its number. */
  readonly subgraphOf: (fetch: number) => string;
}

/** Writes one member of an object with its name and separator; false when a null here makes the whole object null. */
type WriteField = (answer: Answer, parts: Parts) => boolean;

/**
 * Writes objects at one place of the answer as JSON, directly from the parts of the fetches. Each type of object has a
 * list of fields; a field knows the parts that it is read from.
 */
export class SelectionWriter {
  readonly #plan: WriterPlan;
  readonly #asked: AskedSelection;
  readonly #scope: PlanScope;
  readonly #type: GraphQLCompositeType;
  readonly #isOfObjects: boolean;
  /** True when the output depends on the object's type. */
  readonly #needsType: boolean;
  readonly #fields = new Map<string, readonly WriteField[]>();

  constructor(plan: WriterPlan, asked: AskedSelection, scope: PlanScope, type: GraphQLCompositeType) {
    this.#plan = plan;
    this.#asked = asked;
    this.#scope = scope;
    this.#type = type;
    this.#isOfObjects = isObjectType(type);
    this.#needsType = asked.some(({ onTypes, canonicalName }) => onTypes !== null || canonicalName === "__typename");
  }

  get typeName(): string {
    return this.#type.name;
  }

  /**
   * Writes one object; returns false when a required field is missing or its type is wrong, and the caller truncates
   * the output.
   */
  write(answer: Answer, parts: Parts): boolean {
    const typeName = this.#typeNameOf(parts);
    const isTypeUnknown = this.#needsType && !this.#isOfObjects;
    if (typeName === null || (isTypeUnknown && !isObjectType(this.#plan.schema.getType(typeName)))) {
      this.reportErrors(answer, parts, null);
      this.#reportUnknownType(answer, parts);
      return false;
    }
    const before = answer.objects++;
    if (!answer.marks.areNone) this.reportErrors(answer, parts, typeName);
    const fields = this.#fieldsOf(typeName);
    for (const write of fields) {
      if (write(answer, parts)) continue;
      answer.objects = before;
      return false;
    }
    answer.text.add(fields.length === 0 ? "{}" : "}");
    return true;
  }

  /** Reports the errors of subgraphs on members of the object, under the client's names. */
  reportErrors(answer: Answer, holders: Parts, typeName: string | null): void {
    const asked = this.#asked.filter((field) => isOnType(field, typeName));
    for (const holder of holders) {
      const marks = answer.marks.of(holder);
      if (!marks) continue;
      for (const [member, errors] of marks) {
        const isLink = typeof member === "string" && member.startsWith("$");
        // A field that only the plan needed is reported through the fields that its absence makes null.
        const isAsked = asked.some(({ canonicalName: name }) =>
          isLink ? this.#scope.isFromLink(name, member) : name === member,
        );
        if (!isAsked) continue;
        for (const { error, rest } of errors)
          for (const path of this.pathsOf(isLink ? rest : [member, ...rest], typeName)) answer.addError(error, path);
      }
    }
  }

  /**
   * Translates a subgraph's path to the client's names: one path per client name, down to the deepest requested field.
   */
  pathsOf([name, ...rest]: Path, typeName: string | null = null): Path[] {
    const asked = mergedFields(this.#asked, typeName).filter(({ canonicalName }) => canonicalName === name);
    if (asked.length === 0) return [[]];
    return asked.flatMap((field) => {
      const inner = field.selection ? this.#below(field).pathsBelow(rest) : [rest];
      return inner.map((path) => [field.responseName, ...path]);
    });
  }

  /** The same for a path that begins in the lists around the objects. */
  pathsBelow(path: Path): Path[] {
    const first = path.findIndex((part) => typeof part === "string");
    if (first === -1) return [path];
    return this.pathsOf(path.slice(first)).map((rest) => [...path.slice(0, first), ...rest]);
  }

  #below(field: AskedField): SelectionWriter {
    const type = getNamedType(field.type) as GraphQLCompositeType;
    return new SelectionWriter(this.#plan, field.selection ?? [], this.#scope.belowField(field.canonicalName), type);
  }

  /**
   * Reports why the type is unknown: a subgraph may know an entity only by its interface, and the one that knows its
   * type was lost, or is at fault.
   */
  #reportUnknownType(answer: Answer, parts: Parts): void {
    const reason = parts.map(Missing.reasonOf).find((found) => found !== null);
    if (!reason) answer.flaw(this.#subgraph, "the type of an object is unknown");
    else if (reason !== "reported") answer.lose(reason);
  }

  get #subgraph(): string {
    const fetch = this.#scope.fetchOf("__typename") ?? this.#scope.fetchOf(this.#asked[0]?.canonicalName ?? "");
    return fetch === null ? "" : this.#plan.subgraphOf(fetch);
  }

  /** Returns the type of an object; without one, the fields that all types share can still be written. */
  #typeNameOf(parts: Parts): string | null {
    const { schema, types } = this.#plan;
    if (isObjectType(this.#type)) return this.#type.name;
    const name = types.nameOf(parts);
    if (name === null || name === this.#type.name) return isUnionType(this.#type) ? null : this.#type.name;
    const type = schema.getType(name);
    if (!isObjectType(type) && !isAbstractType(type)) return null;
    return !isUnionType(type) && schema.isSubType(this.#type, type) ? name : null;
  }

  #fieldsOf(typeName: string): readonly WriteField[] {
    const known = this.#fields.get(typeName);
    if (known) return known;
    const type = this.#plan.schema.getType(typeName) as GraphQLCompositeType;
    const fields = mergedFields(this.#asked, typeName).map((field, at) =>
      this.#fieldWriter(field, type, at === 0 ? "{" : ","),
    );
    this.#fields.set(typeName, fields);
    return fields;
  }

  #fieldWriter(field: AskedField, parent: GraphQLCompositeType, before: "{" | ","): WriteField {
    const start = `${before}${JSON.stringify(field.responseName)}:`;
    if (field.node.name.value === "__typename") {
      const text = isObjectType(parent) ? `${start}"${parent.name}"` : null;
      return (answer) => {
        if (text === null) answer.flaw(this.#subgraph, "the type of an object is unknown");
        else answer.text.add(text);
        return text !== null;
      };
    }
    if (field.node.name.value.startsWith("__"))
      return (answer) => {
        const found = answer.introspect(field.node);
        answer.introspected += objectsIn(found);
        answer.text.add(start);
        answer.text.add(JSON.stringify(found));
        return true;
      };
    // An object type may promise more than the requested interface.
    const type = isUnionType(parent) ? field.type : (parent.getFields()[field.node.name.value]?.type ?? field.type);
    if (!type)
      return (answer) => {
        answer.text.add(`${start}null`);
        return true;
      };
    return isCompositeType(getNamedType(type))
      ? this.#compositeWriter(field, type, start)
      : this.#leafFieldWriter(field, type, start);
  }

  #leafFieldWriter(field: AskedField, type: GraphQLOutputType, start: string): WriteField {
    const { canonicalName, responseName } = field;
    const places = this.#scope.placesOf(canonicalName);
    const reasons = this.#reasonsOf(canonicalName);
    const leaf = leafWriter(getNamedType(type) as GraphQLLeafType);
    const isPlain = !isListType(getNullableType(type));
    const item = { write: leafItem(leaf, reasons.subgraph), pathsOf: (path: Path) => [path] };
    const write = valueWriter(type, item, reasons.subgraph);
    const isNullable = !isNonNullType(type);
    const [only = -1] = places;
    const isSingle = places.length === 1;
    return (answer, parts) => {
      const value = isSingle ? memberOf(parts[only], canonicalName) : read(parts, places, canonicalName);
      const isThere = !isAbsent(value);
      const plain = isThere && isPlain ? leaf(value) : null;
      answer.text.add(start);
      if (plain !== null) {
        answer.text.add(plain);
        return true;
      }
      const { length } = answer.text;
      answer.path.push(responseName);
      const isWritten = isThere ? write(answer, [value]) : reasons.report(answer, parts, isNullable);
      answer.path.pop();
      return isWritten || (isNullable && writeNull(answer, length));
    };
  }

  #compositeWriter(field: AskedField, type: GraphQLOutputType, start: string): WriteField {
    const { canonicalName, responseName } = field;
    const scope = this.#scope;
    const inner = scope.belowField(canonicalName);
    const named = getNamedType(type) as GraphQLCompositeType;
    const reasons = this.#reasonsOf(canonicalName);
    const writer = new SelectionWriter(this.#plan, field.selection ?? [], inner, named);
    const item = {
      write: objectItem(writer, inner, reasons.subgraph),
      pathsOf: (path: Path) => writer.pathsBelow(path),
    };
    const write = valueWriter(type, item, reasons.subgraph);
    const isNullable = !isNonNullType(type);
    return (answer, parts) => {
      const bases = scope.readBases(canonicalName, parts);
      answer.path.push(responseName);
      answer.text.add(start);
      const { lossCount, objects } = answer;
      const { length } = answer.text;
      const isLost = bases.length === 1 ? isAbsent(bases[0]) : bases.every(isAbsent);
      const isWritten = isLost ? reasons.report(answer, parts, isNullable) : write(answer, bases);
      if (!isWritten) answer.objects = objects;
      if (!isWritten && isNullable) answer.absorb(lossCount);
      answer.path.pop();
      return isWritten || (isNullable && writeNull(answer, length));
    };
  }

  /** Returns the reason for a null field: its fetch was lost, its subgraph reported an error, or it is a fault. */
  #reasonsOf(name: string) {
    const places = this.#scope.placesOf(name);
    const fetch = this.#scope.fetchOf(name);
    const subgraph = fetch === null ? "" : this.#plan.subgraphOf(fetch);
    const report = (answer: Answer, parts: Parts, isNullable: boolean): false => {
      for (const at of places) {
        const loss = Missing.reasonOf(parts[at]);
        if (loss && loss !== "reported") answer.lose(loss);
        if (loss) return false;
      }
      if (places.length === 0) answer.lose(unresolved);
      const isReported = places.some((at) => answer.marks.has(parts[at], name));
      if (!isNullable && !isReported) answer.flaw(subgraph, "a required value is missing");
      return false;
    };
    return { subgraph, report };
  }
}

/** The planner leaves out a field that no subgraph can resolve, like one of an interface without objects. */
const unresolved: Loss = { code: "INTERNAL", subgraph: "", reason: "no subgraph resolves this field" };

/** Replaces the output from there on. */
function writeNull({ text }: Answer, from: number): true {
  text.cut(from);
  text.add("null");
  return true;
}

/** With an unknown type every field may apply. */
const isOnType = ({ onTypes }: AskedField, typeName: string | null) =>
  typeName === null || (onTypes?.has(typeName) ?? true);

/** Returns the fields of an object type, or of any, each name once, in document order. */
function mergedFields(asked: AskedSelection, typeName: string | null): AskedField[] {
  const merged = new Map<string, AskedField>();
  for (const field of asked) {
    if (!isOnType(field, typeName)) continue;
    const first = merged.get(field.responseName);
    const selection = first?.selection && field.selection ? [...first.selection, ...field.selection] : null;
    merged.set(field.responseName, first && selection ? { ...first, selection } : (first ?? field));
  }
  return [...merged.values()];
}

/** Reads a member from the first part that has a value. */
function read(parts: Parts, places: readonly number[], name: string): unknown {
  for (const at of places) {
    const value = memberOf(parts[at], name);
    if (value !== undefined && value !== null) return value;
  }
  return null;
}

function objectItem(writer: SelectionWriter, scope: PlanScope, subgraph: string): WriteValue {
  return (answer, bases) => {
    const first = bases.length === 1 ? bases[0] : bases.find((base) => !isAbsent(base));
    if (typeof first !== "object" || Array.isArray(first)) {
      answer.flaw(subgraph, "a value is not an object");
      return false;
    }
    return writer.write(answer, scope.withLinks(bases));
  };
}
