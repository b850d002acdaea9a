import { camelCase } from "@signalbox/core";
import { isDeclared, type Resolve, type Resolvers } from "@signalbox/http";
import { type AnyOperation, declaredBy } from "@signalbox/service";
import { type DefinitionNode, type FieldDefinitionNode, Kind, print, visit } from "graphql";
import { z } from "zod";
import { describe } from "./describe.ts";
import {
  type DeclaredField,
  inputTypeOf,
  keyMembers,
  mutationField,
  payloadMembers,
  payloadNames,
  type Route,
  readField,
  type Source,
  sourceOf,
} from "./fields.ts";
import { withListSizes } from "./list-sizes.ts";
import { capital, type FindEnum, type Member, membersOf, objectOf, unwrapped } from "./members.ts";
import {
  completion,
  isTypeNode,
  namedType,
  quoted,
  readNode,
  readNodes,
  type TypeNode,
  writeSchema,
  writeType,
} from "./nodes.ts";

interface Parts {
  /** The schema by hand: types with some of their members, enums, and fields that only the graph has. */
  readonly byHand: string;
  /** Definitions that every service may use. */
  readonly common: string;
  readonly resolvers: Resolvers;
  readonly routes: readonly Route[];
  /** The resources of the service by their names in OpenAPI. */
  readonly resources: ReadonlyMap<string, z.ZodObject>;
}

/** Members of resources that have no place in the graph: the account is the parent, and links are fields. */
const ofRest = ["accountId", "links"];

/** Completes a schema by hand from the declarations of its service. @throws Error for a type or payload without members */
export function subgraphSdl(parts: Parts): string {
  const subgraph = new Subgraph(parts);
  for (const [type, fields] of Object.entries(parts.resolvers)) subgraph.declare(type, fields);
  return writeSchema(subgraph.definitions());
}

class Subgraph {
  readonly #byHand: Map<string, DefinitionNode>;
  readonly #common: ReadonlyMap<string, DefinitionNode>;
  readonly #resources: Parts["resources"];
  readonly #reads: ReadonlyMap<string, Route>;
  readonly #declared = new Map<string, Member[]>();
  readonly #entities = new Set<string>();
  readonly #sources = new Map<string, Source[]>();
  /** Types in the order in which they are completed: again, when they get another source. */
  readonly #reached = new Set<string>();

  constructor({ byHand, common, resources, routes }: Parts) {
    this.#byHand = readNodes(byHand);
    this.#common = readNodes(common);
    this.#resources = resources;
    const reads = routes.filter(({ method }) => method === "get");
    this.#reads = new Map(reads.map((route) => [String(route.spec.operationId), route]));
    for (const [name, node] of this.#byHand)
      if (node.kind === Kind.ENUM_TYPE_DEFINITION && !node.values?.length) this.#byHand.set(name, this.#enum(name));
  }

  /** Takes an enum from the member that it is named after. @throws Error where there is none */
  #enum(enumName: string): DefinitionNode {
    for (const [resource, { shape }] of this.#resources) {
      for (const [name, schema] of Object.entries(shape)) {
        const { inner, description } = unwrapped(schema as z.ZodType, "output");
        if (resource + capital(camelCase(name)) === enumName && inner instanceof z.ZodEnum)
          return readNode(`${quoted(description)}enum ${enumName} { ${inner.options.join(" ")} }`);
      }
    }
    throw new Error(`no resource has the values of ${enumName}`);
  }

  readonly #findEnum: FindEnum = (owner, name, values) => {
    const names = [...this.#byHand.values()].flatMap((node) => {
      if (node.kind !== Kind.ENUM_TYPE_DEFINITION) return [];
      return String(node.values?.map((value) => value.name.value)) === String(values) ? [node.name.value] : [];
    });
    return names.find((one) => one === owner + capital(name)) ?? names.find((one) => one.endsWith(capital(name)));
  };

  /** Adds the fields of a type that are declared for both edges. */
  declare(type: string, fields: Resolvers[string]): void {
    if (type === "Account" || "__resolveReference" in fields) {
      this.#entities.add(type);
      this.#add(type, [id]);
    }
    for (const [name, resolve] of Object.entries(fields)) {
      const { operation, route = name } = declaredBy(resolve);
      const read = this.#reads.get(route);
      if (operation) this.#declareMutation(name, operation);
      else if (read && name === "__resolveReference") this.#addSource(sourceOf(type, read));
      else if (read) this.#declareRead(type, name, read, resolve);
      else if ("rules" in resolve)
        this.#addSource({ type: inputTypeOf(name), object: objectOf(resolve.rules as z.ZodType) });
    }
  }

  #declareRead(type: string, name: string, route: Route, resolve: Resolve): void {
    const keys = type === "Query" && route.path.includes("/:") ? [id] : [];
    const { field, sources } = readField(name, route, keys, this.#findEnum);
    const text = String(field.description);
    const isSeenByOthers = isDeclared(resolve) && resolve.declared.ofOthers && !/administrator/i.test(text);
    const description = isSeenByOthers ? `${text} Administrators see it too.` : text;
    this.#declareField(type, { field: { ...field, description }, sources });
  }

  #declareMutation(name: string, operation: AnyOperation): void {
    const mutation = mutationField(name, operation);
    const payload = mutation.field.type;
    this.#declareField("Mutation", mutation);
    const isType = (type: string) =>
      [type, `${type}InFull`].some((one) => this.#byHand.has(one) || this.#resources.has(one));
    const members = payloadMembers(operation, isType, this.#findEnum);
    this.#add(payload, members);
    const known = [...members.map((member) => member.name), ...this.#namesByHand(payload)];
    const missing = payloadNames(operation).find((member) => !known.includes(member));
    if (missing !== undefined) throw new Error(`the schema by hand needs ${payload}.${missing}`);
    if (operation.graph?.keysInInput) this.#add(inputTypeOf(name, operation), keyMembers(operation));
  }

  #namesByHand(type: string): string[] {
    const node = this.#byHand.get(type) as TypeNode | undefined;
    return [...(node?.fields ?? []).map(({ name }) => name.value), ...completion(node, "without").split(" ")];
  }

  #declareField(type: string, { field, sources }: DeclaredField): void {
    this.#add(type, [field]);
    for (const source of sources) this.#addSource(source);
  }

  #add(type: string, members: readonly Member[]): void {
    this.#declared.set(type, [...(this.#declared.get(type) ?? []), ...members]);
  }

  #addSource(source: Source): void {
    const known = this.#sources.get(source.type) ?? [];
    if (source.object === null || known.some(({ object }) => object === source.object)) return;
    this.#sources.set(source.type, [...known, source]);
    if (this.#reached.delete(source.type)) this.#reached.add(source.type);
  }

  /** Completes every type that is reached, and returns all definitions. */
  definitions(): DefinitionNode[] {
    const completed = new Map<string, DefinitionNode>();
    for (const name of [...this.#byHand.keys(), ...this.#declared.keys()]) this.#reached.add(name);
    for (const name of this.#reached) {
      const byHand = this.#byHand.get(name);
      const written = this.#common.get(name) ?? (byHand && !isTypeNode(byHand) ? byHand : undefined);
      const node = written ?? this.#complete(name, byHand as TypeNode | undefined);
      completed.set(name, node);
      visit(node, { NamedType: (type) => void (scalars.has(type.name.value) || this.#reached.add(type.name.value)) });
    }
    const [roots, rest] = [["Query", "Mutation", "Subscription"], [...completed.keys()].toSorted()];
    return withListSizes(describe([...new Set([...roots, ...rest])].flatMap((name) => completed.get(name) ?? [])));
  }

  /** Adds to a type by hand what its declarations and resource say, but for what is written there already. */
  #complete(name: string, byHand: TypeNode | undefined): TypeNode {
    const isInput = byHand ? byHand.kind !== Kind.OBJECT_TYPE_DEFINITION : name.endsWith("Input");
    const from = completion(byHand, "from");
    const sources = this.#sourcesOf(from || name);
    if (from !== "" && sources.length === 0) throw new Error(`${name} is from ${from}, which is no resource`);
    const members = merged([...(this.#declared.get(name) ?? []), ...this.#derivedMembers(name, isInput, sources)]);
    const ofHand = new Map((byHand?.fields ?? []).map((field) => [field.name.value, field]));
    const isShown = (member: string) => ofHand.has(member) || !this.#leftOut(name, byHand).includes(member);
    for (const { name: member, type, description, within: object = null } of members.filter((one) => isShown(one.name)))
      this.#addSource({ type: namedType(byHandType(ofHand.get(member)) ?? type), object, description });
    const text = sources[0]?.object?.meta()?.description ?? sources[0]?.description;
    const head = `${isInput ? "input" : "type"} ${name}${this.#entities.has(name) ? ' @key(fields: "id")' : ""}`;
    const derived = readNode(writeType(head, text, members)) as TypeNode;
    const fieldOf = (wanted: string) => derived.fields?.find((field) => field.name.value === wanted);
    const fields: FieldDefinitionNode[] = [
      ...[...ofHand].map(([wanted, field]) => withDescription(field, fieldOf(wanted))),
      ...(derived.fields ?? []).filter((field) => !ofHand.has(field.name.value) && isShown(field.name.value)),
      ...this.#inherited(byHand),
    ];
    if (fields.length === 0) throw new Error(`${name} is neither a resource nor written by hand`);
    const directives = [...(byHand?.directives ?? []), ...(derived.directives ?? [])];
    return withDescription({ ...derived, ...byHand, directives, fields }, derived);
  }

  /** Members of its resource that a type does not have. */
  #leftOut(name: string, byHand: TypeNode | undefined): string[] {
    const declared = this.#declared.get(name) ?? [];
    const rest = ofRest.filter((one) => !declared.some((member) => member.name === one));
    return [...rest, ...completion(byHand, "without").split(" ")];
  }

  #inherited(node: TypeNode | undefined): readonly FieldDefinitionNode[] {
    return (node?.interfaces ?? []).flatMap((one) => (this.#byHand.get(one.name.value) as TypeNode).fields ?? []);
  }

  #sourcesOf(name: string): readonly Source[] {
    const inFull = this.#resources.get(`${name}InFull`);
    const object = inFull ?? this.#resources.get(name);
    return (inFull ? undefined : this.#sources.get(name)) ?? (object ? [{ type: name, object }] : []);
  }

  #derivedMembers(name: string, isInput: boolean, sources: readonly Source[]): Member[] {
    if (/Connection$/.test(name)) return connectionMembers(name);
    if (/Edge$/.test(name)) return edgeMembers(name);
    if (/Payload$/.test(name)) return [errors];
    const all = sources.map(({ object, raw = [] }) =>
      membersOf(object as z.ZodObject, name, isInput ? "input" : "output", this.#findEnum).map((member) =>
        raw.includes(member.name) ? rawMember(member) : member,
      ),
    );
    // What one of several sources does not have is null.
    const isEverywhere = (member: Member) => all.every((one) => one.some((other) => other.name === member.name));
    return all.flat().map((one) => (isEverywhere(one) ? one : { ...one, type: one.type.replace(/!$/, "") }));
  }
}

const id: Member = { name: "id", type: "ID!" };
const errors: Member = { name: "errors", type: "[FieldError!]!" };

const byHandType = (field: FieldDefinitionNode | undefined): string | undefined => field && print(field.type);

/** Joins members of one name: the first has the type, the last the text. */
function merged(all: readonly Member[]): Member[] {
  const members = new Map<string, Member>();
  for (const member of all) {
    const known = members.get(member.name);
    members.set(member.name, { ...member, ...known, description: member.description ?? known?.description });
  }
  return [...members.values()];
}

const withDescription = <Node extends Pick<TypeNode, "description">>(node: Node, other: Node | undefined): Node => {
  const description = node.description ?? other?.description;
  return description ? { ...node, description } : node;
};

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

const scalars = new Set(["ID", "String", "Int", "Float", "Boolean"]);
