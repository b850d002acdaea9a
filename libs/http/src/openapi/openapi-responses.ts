import { STATUS_CODES } from "node:http";
import { type ErrorCode, errorBody, graphqlErrorBody } from "@signalbox/core";
import { z } from "zod";
import type { ZodOpenApiMediaTypeObject, ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from "zod-openapi";
import { ErrorBody, GraphqlErrorBody, statusOf } from "../responses/error-response.ts";
import { defaultMessages } from "../routes/http-response.ts";
import type { ResponseSpec, Route } from "../routes/route-spec.ts";
import { documented } from "./openapi-examples.ts";

const phrases: Readonly<Record<number, string>> = {
  200: "Success.",
  201: "Created.",
  202: "Accepted; processed later.",
  204: "Done; the response has no body.",
  206: "The requested range.",
  304: "The client has the current state.",
  400: "The request is not well formed, a parameter is not valid, or a required member is absent.",
  401: "Credentials are missing, not valid or expired.",
  403: "The credential lacks a scope, or the state of the account forbids it.",
  404: "There is no such resource, or it belongs to someone else.",
  406: "None of the accepted media types is available.",
  408: "The body stalled, or did not arrive in time.",
  409: "The state has changed, or does not allow this.",
  410: "Gone.",
  412: "The version of tus is not supported; see Tus-Version.",
  413: "The body is too large.",
  415: "The media type of the body is not supported.",
  416: "The range contains no byte of the content.",
  422: "A member of the body is not valid.",
  429: "Too many requests; see Retry-After.",
  431: "The headers are too large.",
  460: "The chunk has another checksum than announced.",
  500: "Something went wrong on our side.",
  502: "An upstream server failed.",
  503: "Not available right now; see Retry-After.",
  504: "The request took too long.",
};

const header = (id: string, description: string) => z.string().optional().meta({ header: { id }, description });

const alwaysPresent = z.object({
  "X-Request-Id": header("RequestId", "The id of the request; quote it in reports."),
  "RateLimit-Policy": header("RateLimitPolicy", "The rate limit policies that apply to the request."),
  RateLimit: header("RateLimit", "What remains of the rate limits."),
});
const uploadHeaders = {
  "Upload-Offset": header("UploadOffset", "The offset of the next chunk of an upload."),
  "Upload-Length": header("UploadLength", "The announced size of an upload in bytes."),
  "Upload-Complete": header("UploadComplete", "`?1` once all bytes have arrived, else `?0`."),
  "Upload-Expires": header("UploadExpires", "The time until which bytes are accepted."),
  "Upload-Metadata": header("UploadMetadata", "The metadata of an upload by tus."),
  "Content-Location": header("ContentLocation", "The path of the image that an upload by tus has become."),
  "Tus-Resumable": header("TusResumable", "The version of tus."),
};
const entityTag = header("ETag", "The entity tag of the response, for `If-Match` and `If-None-Match`.");
const cacheControl = header("CacheControl", "Which caches may keep the response, and for how long.");
const location = header("Location", "The path of the new resource.");
const authenticate = header("WWWAuthenticate", "The accepted kinds of authentication.");
const retryAfter = header("RetryAfter", "Seconds to wait before the next try.");

/** Documents every answer of a route: the declared ones and those of the framework. */
export function responsesOf(route: Route): ZodOpenApiResponsesObject {
  const responses: Record<string, ZodOpenApiResponseObject> = {};
  for (const status of impliedStatuses(route)) {
    responses[String(status)] = status < 400 ? withoutBody(status) : refusalOf(route, status);
  }
  for (const [status, response] of Object.entries(route.spec.responses)) {
    responses[status] = described(route, Number(status), response);
  }
  return responses as ZodOpenApiResponsesObject;
}

function impliedStatuses({ method, path, spec }: Route): number[] {
  const implied = [400, 406, 429, 431, 500, 503, 504];
  if (spec.auth !== "anonymous") implied.push(401, 403);
  if (path.includes(":")) implied.push(404);
  if (spec.body) implied.push(408, 413, 415, 422);
  if (spec.tus) implied.push(412);
  if (spec.idempotent) implied.push(409, 422);
  if (method === "put" || method === "patch" || method === "delete") implied.push(409);
  if (method === "get") implied.push(304);
  else if (method !== "post" && method !== "delete" && spec.responses[200]) implied.push(204);
  return implied;
}

function described(route: Route, status: number, response: ResponseSpec): ZodOpenApiResponseObject {
  if (response === "error") return refusalOf(route, status);
  if (response === "empty") return route.spec.tus ? uploadProgress(status) : withoutBody(status);
  if (status >= 400 && route.spec.errors !== "graphql") return refusalInOtherWords(status, response);
  const headers = route.spec.tus ? headersOf(status).extend(uploadHeaders) : headersOf(status);
  const answer = { description: phraseOf(status), headers, content: contentOf(response) };
  const name = response instanceof z.ZodType ? response.meta()?.id : undefined;
  return name === undefined ? answer : shared(`${name}${status === 200 ? "" : nameOf(status)}`, () => answer, response);
}

const refusalOf = ({ spec }: Route, status: number): ZodOpenApiResponseObject =>
  spec.errors === "graphql" ? graphqlRefusal(status) : refusal(status);

/** Documents a refusal in the form of a GraphQL answer, for failures before the operation. */
const graphqlRefusal = (status: number): ZodOpenApiResponseObject =>
  shared(`Graphql${nameOf(status)}`, () => ({
    description: phraseOf(status),
    headers: headersOf(status),
    content: { "application/json": { schema: GraphqlErrorBody, example: exampleOfGraphqlRefusal(status) } },
  }));

const refusal = (status: number): ZodOpenApiResponseObject =>
  shared(nameOf(status), () => ({
    description: phraseOf(status),
    headers: headersOf(status),
    content: { "application/json": { schema: ErrorBody, example: exampleOfRefusal(status) } },
  }));

/** Documents a refusal that is a page for people; stages before the handler still refuse in JSON. */
function refusalInOtherWords(status: number, response: Exclude<ResponseSpec, string>): ZodOpenApiResponseObject {
  const own = response instanceof z.ZodType ? response : response.schema;
  const json = { schema: own ? z.union([ErrorBody, own]) : ErrorBody, example: exampleOfRefusal(status) };
  const content = { ...contentOf(response), "application/json": json };
  return { description: phraseOf(status), headers: headersOf(status), content };
}

const withoutBody = (status: number): ZodOpenApiResponseObject =>
  shared(nameOf(status), () => ({ description: phraseOf(status), headers: headersOf(status) }));

const uploadProgress = (status: number): ZodOpenApiResponseObject =>
  shared(`Upload${nameOf(status)}`, () => ({
    description: phraseOf(status),
    headers: headersOf(status).extend(uploadHeaders),
  }));

/** The shared responses of each schema, by name: operations refer to them in the document. */
const sharedResponses = new WeakMap<object, Map<string, ZodOpenApiResponseObject>>();

function shared(id: string, make: () => ZodOpenApiResponseObject, of: object = ErrorBody): ZodOpenApiResponseObject {
  const known = sharedResponses.get(of) ?? new Map<string, ZodOpenApiResponseObject>();
  const response = known.get(id) ?? { ...make(), id };
  sharedResponses.set(of, known.set(id, response));
  return response;
}

const phraseOf = (status: number): string => phrases[status] ?? "An answer.";

/** Names of statuses that RFC 9110 has not. */
const ownNames: Readonly<Record<number, string>> = { 460: "Checksum Mismatch" };

/** Returns `NotFound` for 404, the name in RFC 9110. */
const nameOf = (status: number): string =>
  (STATUS_CODES[status] ?? ownNames[status] ?? String(status)).replace(/[^A-Za-z]/g, "");

function headersOf(status: number): z.ZodObject {
  if (status === 401) return alwaysPresent.extend({ "WWW-Authenticate": authenticate });
  if (status === 429 || status === 503) return alwaysPresent.extend({ "Retry-After": retryAfter });
  if (status >= 400 || status === 202) return alwaysPresent;
  const shown = alwaysPresent.extend({ ETag: entityTag, "Cache-Control": cacheControl });
  return status === 201 ? shown.extend({ Location: location }) : shown;
}

function contentOf(response: Exclude<ResponseSpec, string>): Record<string, ZodOpenApiMediaTypeObject> {
  if (response instanceof z.ZodType) return { "application/json": documented(response) };
  const { content, schema, example } = response as Exclude<ResponseSpec, string | z.ZodType>;
  const shown = example === undefined ? {} : { example };
  return Object.fromEntries(
    content.map((type) => [type, schema ? documented(schema) : { schema: textOf(type), ...shown }]),
  );
}

const textOf = (mediaType: string): z.ZodType =>
  mediaType.startsWith("text/") ? z.string() : z.string().meta({ format: "binary" });

function exampleOfRefusal(status: number): ErrorBody {
  const code = codeOf(status);
  return JSON.parse(
    errorBody({
      code,
      message: defaultMessages[code],
      requestId: exampleId,
      docs: "https://api.example.com/docs/errors",
    }),
  );
}

function exampleOfGraphqlRefusal(status: number): GraphqlErrorBody {
  const code = codeOf(status);
  return JSON.parse(graphqlErrorBody({ code, message: defaultMessages[code], requestId: exampleId }));
}

const exampleId = "req_0b1f6a526d0e4c399a553f2f7c1d8e4b";

function codeOf(status: number): ErrorCode {
  const codes = Object.entries(statusOf) as [ErrorCode, number][];
  return codes.find(([, itsStatus]) => itsStatus === status)?.[0] ?? "invalid_request";
}
