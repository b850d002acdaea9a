import { camelCase } from "@signalbox/core";
import type { Resolvers } from "@signalbox/graphql";
import type { Routes } from "@signalbox/http";
import { declaredBy } from "@signalbox/service";
import { z } from "zod";
import {
  type DeclaredField,
  inputTypeOf,
  keyMembers,
  listField,
  mutationField,
  type Operation,
  payloadMembers,
  payloadNames,
  routeField,
  type Source,
  statisticsField,
} from "./fields.ts";
import { capital, type FindEnum, type Member, membersOf, objectOf, unwrapped } from "./members.ts";
import {
  type Enum,
  emptyType,
  namedType,
  readDefinitions,
  type Type,
  writeEnum,
  writeSchema,
  writeType,
} from "./types.ts";

/** The parts of a subgraph. */
interface Parts {
  /** The schema by hand: types with some of their members, enums, and fields that only the graph has. */
  readonly byHand: string;
  /** Definitions that every service may use. */
  readonly common: string;
  readonly resolvers: Resolvers;
  readonly routes: Routes["list"];
  /** The resources of the service by their names in OpenAPI. */
  readonly resources: ReadonlyMap<string, z.ZodObject>;
}

/** Members of resources that have no place in the graph: the account is the parent, and links are fields. */
const ofRest = new Set(["accountId", "links"]);

/** Completes a schema by hand from the declarations of its service. @throws Error for a type or payload without members */
export function subgraphSdl(parts: Parts): string {
  const subgraph = new Subgraph(parts);
  for (const [type, fields] of Object.entries(parts.resolvers)) subgraph.declare(type, fields);
  return writeSchema(subgraph.definitions());
}

class Subgraph {
  readonly #types: Map<string, Type>;
  readonly #others: ReadonlyMap<string, string>;
  readonly #common: ReturnType<typeof readDefinitions>;
  readonly #resources: Parts["resources"];
  readonly #reads: Parts["routes"];
  readonly #findEnum: FindEnum;
  readonly #sources = new Map<string, Source[]>();
  /** Types in the order in which they are completed: again, when they get another source. */
  readonly #reached = new Set<string>();

  constructor({ byHand, common, resources, routes }: Parts) {
    const { types, others, enums } = readDefinitions(byHand);
    this.#types = new Map(types.map((type) => [type.name, type]));
    this.#resources = resources;
    this.#reads = routes.filter(({ method }) => method === "get");
    this.#common = readDefinitions(common);
    const all = enums.map((one) => (one.values.length > 0 ? one : this.#withValues(one)));
    this.#others = new Map([...others, ...all.map((one) => [one.name, writeEnum(one)] as const)]);
    this.#findEnum = (owner, name, values) => {
      const alike = all.filter((one) => String(one.values.map((value) => value.name)) === String(values));
      const names = alike.map((one) => one.name).filter((one) => one.endsWith(capital(name)));
      return names.find((one) => one === owner + capital(name)) ?? names[0];
    };
  }

  /** Takes the values of an enum from the member that it is named after. @throws Error where there is none */
  #withValues(one: Enum): Enum {
    for (const [resource, { shape }] of this.#resources) {
      for (const [name, schema] of Object.entries(shape)) {
        const { inner, description } = unwrapped(schema as z.ZodType, "output");
        if (resource + capital(camelCase(name)) !== one.name || !(inner instanceof z.ZodEnum)) continue;
        const values = inner.options.map((value) => ({ name: String(value) }));
        return { ...one, description: one.description ?? description, values };
      }
    }
    throw new Error(`no resource has the values of ${one.name}`);
  }

  /** Adds the fields of a type that are declared for both edges. */
  declare(type: string, fields: Resolvers[string]): void {
    const isEntity = type === "Account" || "__resolveReference" in fields;
    if (isEntity) this.#add({ ...emptyType(type), directives: ['@key(fields: "id")'], members: [id] });
    for (const [name, resolve] of Object.entries(fields)) {
      const declared = declaredBy(resolve);
      const { operation, list, record, statistics } = declared;
      if (operation) this.#declareMutation(name, operation);
      if (list) this.#declareField(type, listField(name, list, this.#findEnum));
      if (statistics) this.#declareField(type, statisticsField(name, statistics, this.#findEnum));
      if (record) this.#addSource({ type, object: record.rest.resource as z.ZodObject });
      const route = this.#reads.find(({ spec }) => spec.operationId === name);
      const field = route && routeField(name, route, this.#findEnum);
      if (field && Object.keys(declared).length === 0) this.#declareField(type, field);
      if ("rules" in resolve)
        this.#addSource({ type: inputTypeOf(name), object: objectOf(resolve.rules as z.ZodType) });
    }
  }

  #declareMutation(name: string, operation: Operation): void {
    const mutation = mutationField(name, operation);
    this.#declareField("Mutation", mutation);
    const isType = (type: string) =>
      this.#types.has(type) || this.#resources.has(type) || this.#resources.has(`${type}InFull`);
    this.#add({
      ...emptyType(mutation.field.type),
      members: payloadMembers(operation, isType, this.#findEnum),
    });
    const { members = [], without } = this.#types.get(mutation.field.type) as Type;
    const isThere = (member: string) => without.has(member) || members.some((known) => known.name === member);
    const missing = payloadNames(operation).find((member) => !isThere(member));
    if (missing !== undefined) throw new Error(`the schema by hand needs ${mutation.field.type}.${missing}`);
    if (operation.graph?.keysInInput)
      this.#add({ ...emptyType(inputTypeOf(name, operation)), members: keyMembers(operation) });
  }

  #declareField(type: string, { field, sources }: DeclaredField): void {
    this.#add({ ...emptyType(type), members: [field] });
    for (const source of sources) this.#addSource(source);
  }

  /** Adds members and directives to what is written by hand, which wins. */
  #add({ name, members, directives }: Type): void {
    const type = this.#types.get(name) ?? emptyType(name);
    const isKnown = ({ name: member }: Member) =>
      type.without.has(member) || type.members.some((known) => known.name === member);
    this.#types.set(name, {
      ...type,
      members: [...type.members, ...members.filter((member) => !isKnown(member))],
      directives: type.directives.length > 0 ? type.directives : directives,
    });
  }

  #addSource(source: Source): void {
    const known = this.#sources.get(source.type) ?? [];
    if (source.object === null || known.some(({ object }) => object === source.object)) return;
    this.#sources.set(source.type, [...known, source]);
    if (this.#reached.delete(source.type)) this.#reached.add(source.type);
  }

  /** Completes every type that is reached, and returns all definitions. */
  definitions(): string[] {
    const completed = new Map<string, string>(this.#others);
    for (const name of this.#types.keys()) this.#reached.add(name);
    for (const name of this.#reached) {
      const other = this.#others.get(name) ?? this.#common.others.get(name);
      if (other !== undefined) completed.set(name, other);
      else {
        const type = this.#complete(name);
        for (const each of referencesOf(type)) this.#reached.add(each);
        completed.set(name, writeType(type));
      }
    }
    const [roots, rest] = [["Query", "Mutation", "Subscription"], [...completed.keys()].toSorted()];
    return [...new Set([...roots, ...rest])].flatMap((name) => completed.get(name) ?? []);
  }

  #complete(name: string): Type {
    const common = this.#common.types.find((type) => type.name === name);
    if (common) return common;
    const type = this.#types.get(name) ?? emptyType(name);
    const inherited = type.interfaces.flatMap((one) => this.#types.get(one)?.members ?? []);
    const derived = [...this.#derivedMembers(type), ...inherited];
    const byHand = type.members.map((member) => {
      const { within, description = member.description } = derived.find((one) => one.name === member.name) ?? {};
      if (within) this.#addSource({ type: namedType(member.type), object: within, description });
      return { ...member, description: member.description ?? description };
    });
    const isLeftOut = (member: Member) =>
      ofRest.has(member.name) || type.without.has(member.name) || byHand.some((one) => one.name === member.name);
    const more = derived.filter((member) => !isLeftOut(member));
    for (const { type: name, within: object = null, description } of more)
      this.#addSource({ type: namedType(name), object, description });
    const members = [...byHand, ...more];
    if (members.length === 0) throw new Error(`${name} is neither a resource nor written by hand`);
    return { ...type, description: type.description ?? this.#descriptionOf(type), members };
  }

  #sourcesOf({ name, from = name }: Type): readonly Source[] {
    const inFull = this.#resources.get(`${from}InFull`);
    const object = inFull ?? this.#resources.get(from);
    return (inFull ? undefined : this.#sources.get(from)) ?? (object ? [{ type: name, object }] : []);
  }

  #descriptionOf(type: Type): string | undefined {
    const [source] = this.#sourcesOf(type);
    return source?.object?.meta()?.description ?? source?.description;
  }

  #derivedMembers(type: Type): Member[] {
    const { name, keyword } = type;
    if (/Connection$/.test(name)) return connectionMembers(name);
    if (/Edge$/.test(name)) return edgeMembers(name);
    if (/Payload$/.test(name)) return [errors];
    const direction = keyword === "input" ? "input" : "output";
    const all = this.#sourcesOf(type).map(({ object, raw = [] }) =>
      membersOf(object as z.ZodObject, name, direction, this.#findEnum).map((member) =>
        raw.includes(member.name) ? rawMember(member) : member,
      ),
    );
    // What one of several sources does not have is null.
    const isEverywhere = (member: Member) => all.every((one) => one.some((other) => other.name === member.name));
    const merged = new Map(all.flat().map((member) => [member.name, member]));
    return [...merged.values()].map((member) =>
      isEverywhere(member) ? member : { ...member, type: member.type.replace(/!$/, "") },
    );
  }
}

const id: Member = { name: "id", type: "ID!" };
const errors: Member = { name: "errors", type: "[FieldError!]!" };

/** The caller's own JSON, or settings, whose members have the names of REST. */
const rawMember = ({ name, type, description = "", within }: Member): Member => ({
  name,
  type: type.endsWith("!") ? "JSON!" : "JSON",
  description: within ? `${description} Its members have their names in REST.`.trim() : description,
});

const connectionMembers = (name: string): Member[] => [
  { name: "edges", type: `[${name.replace(/Connection$/, "Edge")}!]!` },
  { name: "pageInfo", type: "PageInfo!" },
];

const edgeMembers = (name: string): Member[] => [
  { name: "cursor", type: "String!" },
  { name: "node", type: `${name.replace(/Edge$/, "")}!` },
];

const referencesOf = ({ members, interfaces }: Type): string[] =>
  [...members, ...members.flatMap(({ args = [] }) => args)]
    .map(({ type }) => namedType(type))
    .concat(interfaces)
    .filter((name) => !scalars.has(name));

const scalars = new Set(["ID", "String", "Int", "Float", "Boolean"]);
