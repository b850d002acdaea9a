import { allMembersMayBeLeftOut, type Routes } from "@signalbox/http";
import { type AnyOperation, keysOf } from "@signalbox/service";
import { z } from "zod";
import { camelNames, capital, type FindEnum, type Member, membersOf, objectOf } from "./members.ts";

/** The field of a declaration, and the resources and inputs that types are made from. */
export interface DeclaredField {
  readonly field: Member;
  readonly sources: readonly Source[];
}

/** The rules behind a type. */
export interface Source {
  readonly type: string;
  readonly object: z.ZodObject | null;
  /** Members that are the caller's own JSON. */
  readonly raw?: readonly string[];
  /** The text of the member that has it. */
  readonly description?: string | undefined;
}

export type Route = Routes["list"][number];

const page: readonly Member[] = [
  { name: "first", type: "Int" },
  { name: "after", type: "String" },
];

/** The graph's name of a resource, which over REST may have a shorter form as well. */
const typeOfResource = (resource: z.ZodType): string =>
  String(z.globalRegistry.get(resource)?.id ?? "").replace(/InFull$/, "");

export const inputTypeOf = (name: string, operation?: AnyOperation): string =>
  operation?.graph?.inputType ?? `${capital(name)}Input`;

export function mutationField(name: string, operation: AnyOperation): DeclaredField {
  const { graph, input } = operation;
  const type = inputTypeOf(name, operation);
  const rules = input && (("json" in input ? input.json : input) as z.ZodType);
  const object = rules ? requiredWhereAlone(objectOf(rules), operation) : null;
  const keys = keyMembers(operation);
  const inputMember = { name: "input", type: graph?.keysInInput || !mayLeaveOut(operation, rules) ? `${type}!` : type };
  const args = graph?.keysInInput ? [inputMember] : [...keys, ...(rules ? [inputMember] : [])];
  const payload = graph?.type ?? `${capital(payloadNames(operation)[0] ?? "")}Payload`;
  return {
    field: { name, type: payload, description: textsOf(operation), args },
    sources: object ? [{ type, object, raw: graph?.raw ?? [] }] : [],
  };
}

/** The only member of a patch over REST may be left out there; a mutation is named after it. */
function requiredWhereAlone(object: z.ZodObject | null, { rest }: AnyOperation): z.ZodObject | null {
  return rest.patch && object && Object.keys(object.shape).length === 1 ? object.required() : object;
}

/** The path parameters of an operation, as arguments or as members of its input. */
export const keyMembers = (operation: AnyOperation): Member[] =>
  keysOf(operation).map(([, name]) => ({ name, type: /id$/i.test(name) ? "ID!" : "String!" }));

/** The names of the members of an operation's payload, beside the errors. */
export const payloadNames = ({ graph }: AnyOperation): string[] =>
  typeof graph?.payload === "string" ? [graph.payload] : Object.keys(graph?.payload ?? {});

/**
 * Builds the members of a payload: an id, a type of that name, a resource that the answer is, or a member of the answer
 * over REST. @throws Error for another one, which the schema by hand has
 */
export function payloadMembers(
  operation: AnyOperation,
  isType: (name: string) => boolean,
  findEnum: FindEnum,
): Member[] {
  const answers = Object.values(operation.rest.responses ?? {}).flatMap((answer) =>
    answer instanceof z.ZodType ? (objectOf(answer) ?? []) : [],
  );
  return payloadNames(operation).flatMap((name) => {
    if (/Id$/.test(name)) return [{ name, type: "ID" }];
    if (isType(capital(name))) return [{ name, type: capital(name) }];
    const members = answers.flatMap((answer) => membersOf(answer, typeOfResource(answer), "output", findEnum));
    const member = members.find((one) => one.name === name);
    if (member) return [{ ...member, type: member.type.replace(/!$/, "") }];
    const resource = answers.map(typeOfResource).find((type) => type.endsWith(capital(name)));
    return resource === undefined ? [] : [{ name, type: resource }];
  });
}

/** The resource that a route answers. */
const answerOf = ({ spec }: Route): z.ZodObject =>
  Object.values(spec.responses ?? {}).find((one) => one instanceof z.ZodObject) ?? z.object({});

/** The source of an entity that a route reads. */
export const sourceOf = (type: string, route: Route): Source => ({ type, object: answerOf(route) });

/** Builds a field from the route of its read: `keys` are those of a field of `Query`. */
export function readField(name: string, route: Route, keys: readonly Member[], findEnum: FindEnum): DeclaredField {
  const { spec } = route;
  const answer = answerOf(route);
  const { limit, cursor, ...filter } = spec.query instanceof z.ZodObject ? spec.query.shape : {};
  const resource = (limit === undefined ? answer : (answer.shape.items as z.ZodArray).element) as z.ZodObject;
  const node = typeOfResource(resource);
  const summary = capital(spec.summary.replace(/^(?:List|Read) /, ""));
  const text = textsOf({ ...spec, summary, input: spec.query } as Texts);
  const { scopes = [] } = spec.auth as { readonly scopes?: readonly string[] };
  const isAdministrative = scopes.includes("account:admin") && !/administrator/i.test(text);
  const args = membersOf(z.object(filter as z.ZodRawShape), node, "input", findEnum);
  return {
    field: {
      name,
      type: limit === undefined ? node : `${node}Connection`,
      description: isAdministrative ? `${text} For administrators.` : text,
      args: [...(limit === undefined ? keys : page), ...args],
    },
    sources: [{ type: node, object: resource }],
  };
}

/** Terms that only HTTP has: conditions, statuses, media types. */
const ofHttp = /If-Match|Idempotency-Key|\b[2345]\d\d\b|merge patch/;

type Texts = Pick<AnyOperation, "summary" | "description" | "input"> & { readonly auth?: AnyOperation["auth"] };

/** Returns the texts of a declaration, with the graph's names, and without the sentences about HTTP alone. */
function textsOf({ auth, input, summary, description = "" }: Texts): string {
  const sentences = description.split(/(?<=\.) /).filter((sentence) => sentence !== "" && !ofHttp.test(sentence));
  const text = [`${summary}.`, ...sentences].join(" ");
  const stepUp = auth?.stepUpFor === undefined ? "" : ` for ${auth.stepUpFor}`;
  const guard = (auth?.stepUp || stepUp) && !/recent sign-in/.test(text) ? ` Needs a recent sign-in${stepUp}.` : "";
  const members = Object.keys((input && "shape" in input ? input.shape : undefined) ?? {});
  return camelNames(text, new Set(members)) + guard;
}

/**
 * A change of nothing is a mistake; another input may be left out where each of its members may, unless a rule between
 * them wants one.
 */
const mayLeaveOut = ({ rest }: AnyOperation, rules: z.ZodType | undefined): boolean =>
  !rest.mergePatch && allMembersMayBeLeftOut(rules) && rules?.safeParse({}).success === true;
