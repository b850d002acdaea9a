import { camelCase } from "@signalbox/core";
import type { Generator } from "../generator.ts";
import { capital, plural } from "../graph/members.ts";
import {
  mergedDocument,
  type OpenApiDocument,
  type OpenApiOperation,
  type OpenApiSchema,
} from "../openapi/openapi-documents.ts";

/**
 * The methods of the client by resource. Programs that run with the packages of a start use them, so this is made with
 * those alone.
 */
export const clientResources: Generator = {
  name: "client resources",
  kind: "built",
  generate: async () => new Map([["libs/client/src/generated/resources.ts", resourcesFile(await mergedDocument())]]),
};

/** One method: where it belongs, and how its request is made. */
interface Method {
  readonly id: string;
  readonly tag: string;
  readonly verb: string;
  readonly path: string;
  readonly operation: OpenApiOperation;
  /** The contents of its answers of success, by media type. */
  readonly answers: readonly { readonly type: string; readonly schema: OpenApiSchema }[];
}

/** Tags whose routes are for browsers, senders and other programs' own clients. */
const notResources = new Set(["documents", "ingest", "graphql", "ofrep", "schemas", "subjects"]);

/**
 * Writes the resources of the client: their types, and the table by which requests are made. Names come from operation
 * ids: `createWebhookEndpoint` is `webhookEndpoints.create`, because `webhookEndpoints` is a list.
 */
export function resourcesFile(document: OpenApiDocument): string {
  const methods = methodsOf(document);
  const resources = new Map<string, Map<string, Method>>();
  const namesOf = createNames(methods);
  for (const method of methods) {
    const [resource, plain] = namesOf(method);
    const others = resources.get(resource) ?? new Map<string, Method>();
    const name = others.has(plain) ? `${plain}Many` : plain;
    if (others.has(name)) throw new Error(`${method.id} and another operation are both ${resource}.${name}`);
    resources.set(resource, others.set(name, method));
  }
  const sorted = [...resources].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const types = sorted.map(([resource, of]) => {
    const lines = [...of].map(([name, method]) => signatureOf(document, name, method));
    return `  readonly ${resource}: {\n${lines.join("\n")}\n  };`;
  });
  const table = sorted.map(([resource, of]) => {
    const lines = [...of].map(([name, method]) => `    ${name}: "${requestOf(method)}",`);
    return `  ${resource}: {\n${lines.join("\n")}\n  },`;
  });
  return [
    "// Made by `npm run generate` from the OpenAPI documents of all services.\n",
    `import type { CallOptions } from "../call.ts";`,
    `import type { Pages } from "../pages.ts";`,
    `import type { components, operations } from "./api.d.ts";\n`,
    `${partTypes}\n`,
    ...Object.keys(document.components.schemas)
      .filter(isShown)
      .toSorted()
      .map((name: string) => `export type ${name} = components["schemas"]["${name}"];`),
    "\n/** The methods of the API by resource. */",
    `export interface Resources {\n${types.join("\n")}\n}\n`,
    "/** Verb and path; b: takes a body, q: a query, i: may be repeated with a key, p: has pages, r: answers bytes. */",
    `export const requests: Record<string, Record<string, string>> = {\n${table.join("\n")}\n};\n`,
  ].join("\n");
}

/** Types of the parts that have no name in the documents. */
const partTypes = `type QueryOf<Id extends keyof operations> = NonNullable<operations[Id]["parameters"]["query"]>;
type ContentOf<Body> = NonNullable<Body> extends { content: infer Contents } ? Contents[keyof Contents] : never;
type BodyOf<Id extends keyof operations> = operations[Id] extends { requestBody?: infer Body } ? ContentOf<Body> : never;
type JsonOf<Answer> = Answer extends { content: { "application/json": infer Json } } ? Json : never;
type Succeeded<Answers> = Answers[keyof Answers & (200 | 201 | 202)];
type AnswerOf<Id extends keyof operations> = JsonOf<Succeeded<operations[Id]["responses"]>>;`;

/** `Error` would hide the global one; `ApiError` carries it. */
const isShown = (schema: string): boolean => schema !== "Error" && !schema.startsWith("__");

function methodsOf({ paths, components }: OpenApiDocument): Method[] {
  const routes = Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => ({ path, verb, operation })),
  );
  return routes.flatMap(({ path, verb, operation }) => {
    const { operationId: id, tags: [tag] = [""], responses, requestBody } = operation;
    if (id === undefined || notResources.has(tag)) return [];
    const succeeded = Object.entries(responses).filter(([status]) => status < "300");
    const answers = succeeded.flatMap(([, answer]) => {
      const { content = {} } = answer.$ref ? (components.responses[nameOf(answer.$ref)] ?? {}) : answer;
      return Object.entries(content).map(([type, { schema }]) => ({ type, schema }));
    });
    const isForPrograms = answers.every(({ type }) => type !== "text/html" && type !== "text/event-stream");
    const sent = Object.keys(requestBody?.content ?? {});
    const takesJson = sent.length === 0 || sent.includes("application/json");
    return isForPrograms && takesJson ? [{ id, tag, verb, path, operation, answers }] : [];
  });
}

const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf("/") + 1);
const queryOf = ({ operation }: Method): string[] =>
  (operation.parameters ?? []).filter((one) => one.in === "query").map(({ name = "" }) => name);
const hasPages = (method: Method): boolean => method.verb === "get" && queryOf(method).includes("cursor");
const jsonOf = ({ answers }: Method) => answers.filter(({ type }) => type === "application/json");

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
const singular = (text: string): string => text.replace(/ies$/, "y").replace(/s$/, "");

/**
 * Finds the resource and the name of a method: the longest noun in its id is the resource, the rest the name. Nouns are
 * the ids of lists, of items, and of what another method changes; after them the tag.
 */
function createNames(methods: readonly Method[]): (method: Method) => [resource: string, name: string] {
  const nouns = new Map<string, string>();
  for (const method of methods.filter(({ verb }) => verb === "get")) {
    const { id, path, tag } = method;
    const noun = capital(singular(id));
    const isItem = path.endsWith("}") && id !== tag;
    const isChanged = methods.some((other) => other.verb !== "get" && wordsIn(other.id, noun));
    if (hasPages(method) || isItem || isChanged) nouns.set(noun, isItem && !hasPages(method) ? plural(id) : id);
  }
  const roots = new Map(methods.filter(({ verb }) => verb !== "get").map(({ path, tag }) => [path, tag]));

  return (method) => {
    const { id, tag, verb, path } = method;
    const tagNoun = capital(singular(tag));
    const [noun] = [...nouns.keys()].filter((one) => wordsIn(id, one)).toSorted((a, b) => b.length - a.length);
    const chosen = noun ?? tagNoun;
    // What concerns the caller's own account is `account`, and `accounts` what concerns any.
    const resource = noun === undefined || noun === tagNoun ? (nouns.get(noun ?? "") ?? tag) : nouns.get(noun);
    const owner = noun === tagNoun && tag === singular(tag) ? tag : (resource ?? tag);
    const found = wordsIn(id, chosen);
    const rest = found ? lower(capital(id).replace(found, "")) : id;
    const isRoot = verb === "get" && !found && roots.get(path) === tag;
    if (rest !== "" && !isRoot) return [owner, rest];
    return [owner, hasPages(method) ? "list" : "get"];
  };
}

/** Returns the words in an id that are this noun, in the plural or not; null where it is only the start of a longer word. */
function wordsIn(id: string, noun: string): string | null {
  const [found] = new RegExp(`(?:${plural(noun)}|${noun})(?![a-z])`).exec(capital(id)) ?? [];
  return found ?? null;
}

function requestOf(method: Method): string {
  const { verb, path, operation, answers } = method;
  const isRepeatable = operation.parameters?.some(({ $ref }) => $ref?.endsWith("/IdempotencyKey"));
  const flags = [
    operation.requestBody && "b",
    queryOf(method).length > 0 && "q",
    isRepeatable && "i",
    hasPages(method) && "p",
    answersBytes(answers) && "r",
  ];
  return `${verb.toUpperCase()} ${path} ${flags.filter(Boolean).join("")}`.trimEnd();
}

const answersBytes = (answers: Method["answers"]): boolean =>
  answers.length > 0 && answers.every(({ type }) => type !== "application/json");

/** Writes a method as TypeScript: the parts of its path, its body or else its query, and the options of every call. */
function signatureOf({ components }: OpenApiDocument, name: string, method: Method): string {
  const { id, path, operation } = method;
  const { requestBody } = operation;
  const named = ({ $ref }: OpenApiSchema): string | null =>
    $ref && components.schemas[nameOf($ref)] && isShown(nameOf($ref)) ? nameOf($ref) : null;
  const parts = [...path.matchAll(/\{(\w+)\}/g)].map(([, part = ""]) => `${camelCase(part)}: string`);
  const query = queryOf(method).length > 0;
  if (requestBody) {
    const contents = Object.values(requestBody.content ?? {});
    const body = (contents.length === 1 && contents[0] && named(contents[0].schema)) || `BodyOf<"${id}">`;
    parts.push(`${requestBody.required === false ? "body?" : "body"}: ${body}`);
  } else if (query) {
    parts.push(`query?: QueryOf<"${id}">`);
  }
  const options = requestBody && query ? `CallOptions & { query?: QueryOf<"${id}"> }` : "CallOptions";
  const signature = `${name}(${[...parts, `options?: ${options}`].join(", ")})`;
  return `    /** ${operation.summary ?? id}. */\n    ${signature}: ${answerOf(method, named)};`;
}

function answerOf(method: Method, named: (schema: OpenApiSchema) => string | null): string {
  const { id, answers } = method;
  const json = jsonOf(method);
  if (hasPages(method)) {
    const item = json[0]?.schema.properties?.items?.items;
    return `Pages<${(item && named(item)) ?? `AnswerOf<"${id}">["items"][number]`}>`;
  }
  if (answers.length === 0) return "Promise<void>";
  if (answersBytes(answers)) return "Promise<Response>";
  const names = json.map(({ schema }) => named(schema));
  return `Promise<${names.includes(null) ? `AnswerOf<"${id}">` : [...new Set(names)].join(" | ")}>`;
}
