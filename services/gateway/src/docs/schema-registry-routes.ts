import { schemaRegistry } from "@signalbox/contracts";
import { AppError, minutes } from "@signalbox/core";
import {
  bytes,
  createDocumentAnswer,
  createRoutes,
  type HttpResponse,
  type Routes,
  variesByCoding,
} from "@signalbox/http";
import { z } from "zod";

type Answer = ReturnType<typeof createDocumentAnswer>;

const schemaTypes = ["application/schema+json", "application/json"] as const;
/** The media types of a schema registry; its clients accept either. */
const registryTypes = ["application/vnd.schemaregistry.v1+json", "application/json"] as const;
/**
 * A day without a question: a version only gains optional members, so an older copy still fits newer events. A change
 * that would break a reader has another address.
 */
const schemaCache = "public, max-age=86400, immutable";
const registryCache = "public, max-age=300";

/** Reads of one address: a registry's client asks for every schema by itself, when it starts. */
export const schemaReads = { name: "schema-reads", limit: 1_200, windowMs: minutes(1) };

const JsonSchemaAnswer = z
  .looseObject({
    title: z.string().describe("The type of the event with its version."),
    type: z.string().describe("Always `object`."),
  })
  .meta({ id: "JsonSchema", examples: [{ title: "image.created.v1", type: "object" }] });
const registeredExample = {
  subject: "image.created",
  version: 1,
  id: 249556951,
  guid: "2f593b6f-4737-556f-2141-262845236b60",
  schemaType: "JSON",
  schema: '{"type":"object"}',
};
const members = {
  schemaType: z.string().describe("Always `JSON`."),
  schema: z.string().describe("The JSON Schema as a string."),
  guid: z.string().describe("The GUID of the schema, as in the header `__value_schema_id` of a record."),
};
const SchemaOfId = z.object(members).meta({
  id: "RegistrySchema",
  examples: [{ schemaType: "JSON", schema: registeredExample.schema, guid: registeredExample.guid }],
});
const SubjectVersion = z
  .object({
    subject: z.string().describe("The name of the event, or the topic and `-value`."),
    version: z.int().describe("The version of the schema."),
    id: z.int().describe("The id of the schema, the same in every deployment and release."),
    ...members,
  })
  .meta({ id: "RegistrySubjectVersion", examples: [registeredExample] });
const RegistryError = z
  .object({
    error_code: z.int().describe("The code of the registry, such as 40401."),
    message: z.string().describe("A message for people; it may change."),
  })
  .meta({ id: "RegistryError", examples: [{ error_code: 40_401, message: "Subject not found." }] });

const missing = { content: registryTypes, schema: RegistryError };
const listOf = (item: z.ZodType, example: unknown) => z.array(item).meta({ examples: [example] });

/** Serves the schemas of all events, each under its address, and in the form of Confluent's schema registry. */
export function schemaRoutes(baseUrl: string): Routes {
  const routes = createRoutes({ exampleIds });
  // Built at the first request, so that no start waits for them.
  let files: ReadonlyMap<string, Answer> | undefined;

  routes.get("/schemas/:type/:file", {
    operationId: "eventSchema",
    summary: "Read the JSON Schema of an event's data",
    description:
      "JSON Schema 2020-12 with an example. A delivery names it by `type` and `api_version`, and `ce_dataschema` of a record is its URL. `envelope` is the schema of a delivery.",
    auth: "anonymous",
    anonymousRateLimit: schemaReads.name,
    responses: { 200: { content: schemaTypes, schema: JsonSchemaAnswer }, 404: "error" },
    cache: schemaCache,
    vary: variesByCoding,
    handle: ({ headers, mediaType, params: { type, file } }) => {
      files ??= publishedFiles(baseUrl);
      const answer = files.get(`${mediaType} /schemas/${type}/${file}`);
      if (answer === undefined) throw new AppError("not_found", "There is no such schema; /subjects lists the events.");
      return answer(headers);
    },
  });
  let registered: readonly schemaRegistry.RegisteredSchema[] | undefined;
  registryRoutes(routes, () => {
    registered ??= schemaRegistry.registered(baseUrl);
    return registered;
  });
  return routes;
}

const exampleIds = {
  type: "image.created",
  file: "v1.json",
  subject: registeredExample.subject,
  version: "latest",
  id: String(registeredExample.id),
  guid: registeredExample.guid,
};

function publishedFiles(baseUrl: string): ReadonlyMap<string, Answer> {
  const files = [...schemaRegistry.published(baseUrl)].flatMap(([path, schema]) => {
    const text = `${JSON.stringify(schema, null, 2)}\n`;
    return schemaTypes.map(
      (type) => [`${type} ${path}`, createDocumentAnswer(text, `${type}; charset=utf-8`)] as const,
    );
  });
  return new Map(files);
}

/** Clients add parameters for what a registry can filter or format. There is nothing to filter here. */
const common = {
  auth: "anonymous",
  anonymousRateLimit: schemaReads.name,
  cache: registryCache,
  ownQuery: true,
} as const;
const either = (schema: z.ZodType) => ({ content: registryTypes, schema });

/**
 * Declares the routes of a registry: its schemas by their ids, and its subjects, one for each event and for the values
 * of each topic. It takes no others.
 */
function registryRoutes(routes: Routes, registry: () => readonly schemaRegistry.RegisteredSchema[]): void {
  const versionsOf = (subject: string) => registry().filter((one) => one.subject === subject);
  routes.get("/schemas/types", {
    ...common,
    operationId: "schemaTypes",
    summary: "List the schema types of the registry",
    description: "Only JSON Schema. Responses have the format of Confluent's schema registry.",
    responses: { 200: either(listOf(z.string(), ["JSON"])) },
    handle: ({ mediaType }) => answerOf(["JSON"], mediaType),
  });
  routes.get("/schemas/ids/:id", {
    ...common,
    operationId: "schemaOfId",
    summary: "Read a schema by its id in the registry",
    description: "Ids are derived from the names of events, so they are the same in every deployment and release.",
    responses: { 200: either(SchemaOfId), 404: missing },
    handle: ({ mediaType, params }) => schemaOf(registry(), (one) => String(one.id) === params.id, mediaType),
  });
  routes.get("/schemas/guids/:guid", {
    ...common,
    operationId: "schemaOfGuid",
    summary: "Read a schema by its GUID in the registry",
    description: "Each Kafka record has the GUID of its schema in the header `__value_schema_id`.",
    responses: { 200: either(SchemaOfId), 404: missing },
    handle: ({ mediaType, params }) => schemaOf(registry(), (one) => one.guid === params.guid, mediaType),
  });
  routes.get("/subjects", {
    ...common,
    operationId: "schemaSubjects",
    summary: "List the subjects of the schema registry",
    description: "The name of each event, and for each topic its name with `-value`.",
    responses: { 200: either(listOf(z.string(), [registeredExample.subject, "signalbox.image.v1-value"])) },
    handle: ({ mediaType }) => answerOf([...new Set(registry().map(({ subject }) => subject))], mediaType),
  });
  routes.get("/subjects/:subject/versions", {
    ...common,
    operationId: "schemaVersions",
    summary: "List the versions of a subject of the schema registry",
    description: "The currently published versions of the event.",
    responses: { 200: either(listOf(z.int(), [1])), 404: missing },
    handle: ({ mediaType, params: { subject } }) => {
      const versions = versionsOf(subject).map(({ version }) => version);
      return versions.length === 0 ? noSubject(mediaType) : answerOf(versions, mediaType);
    },
  });
  routes.get("/subjects/:subject/versions/:version", {
    ...common,
    operationId: "schemaVersion",
    summary: "Read a version of a subject of the schema registry",
    description: "The schema with its id. `latest` is the newest version.",
    responses: { 200: either(SubjectVersion), 404: missing, 422: missing },
    handle: ({ mediaType, params: { subject, version } }) => {
      const versions = versionsOf(subject);
      if (versions.length === 0) return noSubject(mediaType);
      if (!/^(latest|-1|[1-9][0-9]{0,8})$/.test(version))
        return refused(422, 42_202, "A version is a number from 1, or `latest`.", mediaType);
      const isNewest = version === "latest" || version === "-1";
      const wanted = isNewest ? versions.at(-1) : versions.find((one) => String(one.version) === version);
      if (!wanted) return refused(404, 40_402, "Version not found.", mediaType);
      return answerOf({ ...wanted, schemaType: "JSON" }, mediaType);
    },
  });
}

function schemaOf(
  schemas: readonly schemaRegistry.RegisteredSchema[],
  isWanted: (one: schemaRegistry.RegisteredSchema) => boolean,
  mediaType: string,
): HttpResponse {
  const found = schemas.find(isWanted);
  if (!found) return refused(404, 40_403, "Schema not found.", mediaType);
  return answerOf({ schemaType: "JSON", schema: found.schema, guid: found.guid }, mediaType);
}

const noSubject = (mediaType: string): HttpResponse => refused(404, 40_401, "Subject not found.", mediaType);

const answerOf = (value: unknown, mediaType: string, status = 200): HttpResponse =>
  bytes(Buffer.from(JSON.stringify(value)), mediaType, { status });

const refused = (status: number, error_code: number, message: string, mediaType: string): HttpResponse =>
  answerOf({ error_code, message }, mediaType, status);
