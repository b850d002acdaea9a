import { credentialFrom, stepUpChallenge } from "@signalbox/auth";
import { AppError, type Clock, type ErrorDetail, graphqlExtensions, isAppError, MiB } from "@signalbox/core";
import {
  bytes,
  createRoutes,
  type HttpResponse,
  idempotencyKeyOf,
  parseJsonBody,
  type RouteInput,
  stream as streamed,
} from "@signalbox/http";
import type { Configuration } from "@signalbox/runtime";
import { type Edges, pageLimitsOf } from "@signalbox/service";
import { GraphQLError, type GraphQLFormattedError, type GraphQLSchema } from "graphql";
import { z } from "zod";
import { docsRoutes, referenceRoutes } from "./docs/docs-routes.ts";
import { frontRoutes, securityTxtRoutes } from "./docs/front-page.ts";
import { graphiqlPage, graphiqlRoutes } from "./docs/graphiql.ts";
import { schemaRoutes } from "./docs/schema-registry-routes.ts";
import { type OperationRequest, operationRequestFrom } from "./documents/operation-request.ts";
import { eventsOf, subscribeFor } from "./live/event-stream.ts";
import type { OpenLive } from "./live/open-live.ts";
import type { AskServices } from "./operating/ask-services.ts";
import { operatingApi } from "./operating/operating-api.ts";
import type { Operations, Outcome } from "./operations/operations.ts";
import type { Carried } from "./operations/prepare-operation.ts";
import type { Properties } from "./properties.ts";
import { whyRoutes } from "./why/why.ts";

const members = z.record(z.string(), z.unknown());

/** For the documentation only (GraphQL over HTTP, "Request" and "Response"); `operationRequestFrom` reads the body. */
const GraphqlBody = z
  .object({
    query: z
      .string()
      .nullable()
      .optional()
      .describe("The document; if absent, `documentId` or `extensions` must name one."),
    documentId: z.string().nullable().optional().describe("The SHA-256 of a document, or its name in the manifest."),
    variables: members.nullable().optional().describe("The values of the variables, by name."),
    operationName: z.string().nullable().optional().describe("The operation to run when the document has several."),
    extensions: members.nullable().optional().describe("Extensions; `persistedQuery` names a document by its SHA-256."),
  })
  .meta({
    id: "GraphqlRequest",
    anyOf: [{ required: ["query"] }, { required: ["documentId"] }, { required: ["extensions"] }],
    examples: [{ query: "query Name { viewer { id displayName } }", operationName: "Name" }],
  });

const GraphqlAnswer = z
  .object({
    data: members.nullable().optional().describe("The result; failed fields are null."),
    errors: z
      .array(
        z.object({
          message: z.string().describe("A message for people; it may change."),
          path: z
            .array(z.union([z.string(), z.int()]))
            .optional()
            .describe("The path of the field that failed."),
          extensions: z
            .looseObject({ code: z.string().describe("A stable code; branch on this.") })
            .optional()
            .describe("The code of the failure, and details."),
        }),
      )
      .optional()
      .describe("The failures; absent when there are none."),
  })
  .meta({
    id: "GraphqlResponse",
    examples: [{ data: { viewer: { id: "acc_5Yb0cPq7TnV2sKxW9mRdLh", displayName: "Ada Byron" } } }],
  });

const mediaTypes = ["application/json", "application/graphql-response+json"] as const;
/** Media type of subscriptions by the protocol graphql-sse. */
const eventStream = "text/event-stream";
const responses = {
  200: { content: [...mediaTypes, eventStream], schema: GraphqlAnswer },
  400: { content: mediaTypes, schema: GraphqlAnswer },
  405: { content: mediaTypes, schema: GraphqlAnswer },
  415: "error",
} as const;
/** Refusals before an operation have the form of a GraphQL answer too. */
const errors = "graphql";
/**
 * Callers with access to their own account, including disabled ones. Each field judges further restrictions itself;
 * portal sessions subscribe and do nothing else.
 */
const auth = { scopes: [], access: "own-account:read", optional: true, portal: true } as const;

const page = "text/html";

interface Dependencies {
  readonly configuration: Configuration<Properties>;
  readonly clock: Clock;
  readonly operations: Operations;
  readonly live: OpenLive;
  /** Asks the services behind the routes of operators. */
  readonly ask: AskServices;
  readonly schema: () => GraphQLSchema;
}

/** The query endpoint (spec, "Query endpoint"; GraphQL over HTTP), and the documentation. It has no fields of its own. */
export function serviceEdges({ configuration, clock, operations, live, ask, schema }: Dependencies): Edges {
  const routes = createRoutes();
  const showsSchema = () => configuration.get("graphql.introspection");
  const hasPage = () => configuration.get("graphql.graphiql") && showsSchema();

  routes.post("/graphql", {
    operationId: "runOperation",
    summary: "Run an operation",
    description:
      "Queries and mutations answer with JSON, subscriptions with an event stream. Each field requires its own scopes.",
    auth,
    audit: { unaudited: "Each mutation writes the audit entry that it declares." },
    body: { raw: { maxBytes: MiB, json: GraphqlBody } },
    responses,
    errors,
    handle: (input) => {
      const read = () => operationRequestFrom(parseJsonBody(input.body).value);
      return input.mediaType === eventStream
        ? answerInEvents(input, read, "everything", { operations, ...live })
        : answer(input, async () => operations.execute(read(), askingOf(input), "queries and mutations"));
    },
  });

  routes.get("/graphql", {
    operationId: "runQuery",
    summary: "Run a query",
    description: "Mutations need POST. A browser that requests a page gets GraphiQL.",
    auth,
    query: z.object({
      query: z.string().optional().describe("The document; if absent, `documentId` or `extensions` must name one."),
      documentId: z.string().optional().describe("The SHA-256 of a document, or its name in the manifest."),
      variables: z.string().optional().describe("A JSON object."),
      operationName: z.string().optional().describe("The operation to run when the document has several."),
      extensions: z.string().optional().describe("A JSON object, whose `persistedQuery` names a document."),
    }),
    responses: { ...responses, 200: { content: [...mediaTypes, eventStream, page], schema: GraphqlAnswer } },
    errors,
    cache: "private, no-cache",
    handle: (input) => {
      const wantsPage = input.mediaType === page;
      if (wantsPage && hasPage()) return graphiqlPage();
      refuseAmbientCredentials(input);
      const read = () => requestFromQuery(input.query);
      if (input.mediaType === eventStream)
        return answerInEvents(input, read, "queries and subscriptions", { operations, ...live });
      const run = async () => operations.execute(read(), askingOf(input), "queries");
      return answer(input, run, wantsPage ? mediaTypes[0] : input.mediaType);
    },
  });
  routes.include(frontRoutes(configuration));
  routes.include(graphiqlRoutes(hasPage));
  routes.include(docsRoutes(() => configuration.get("docs.enabled")));
  routes.include(referenceRoutes(schema, showsSchema));
  routes.include(schemaRoutes(configuration.get("http.base-url")));
  routes.include(operatingApi(ask, pageLimitsOf(configuration)));
  routes.include(whyRoutes(ask));
  routes.include(securityTxtRoutes(configuration, clock));
  return { routes, resolvers: {} };
}

/** Answers with messages as they arrive. A refusal before the first one is answered as JSON. */
async function answerInEvents(
  input: RouteInput,
  read: () => OperationRequest,
  carried: Carried,
  { operations, live, callers }: OpenLive & { readonly operations: Operations },
): Promise<HttpResponse> {
  const asking = askingOf(input);
  try {
    const lastEventId = input.headers["last-event-id"];
    const request = { ...read(), ...(lastEventId !== undefined && { resumeAfter: String(lastEventId) }) };
    // Only the type of the operation is needed here; what runs it charges its refusal.
    const { operation } = operations.find(request, carried, asking);
    if (operation?.operation !== "subscription") {
      const { body, status, notes } = await operations.execute(request, asking, carried);
      input.note(notes);
      return status === 200 ? bytes(eventsOf(body), eventStream) : refusedInEvents(body);
    }
    const who = { ...asking, credential: credentialFrom(input.headers) };
    const stream = await subscribeFor(live, callers, who, request);
    input.note({ operationType: "subscription", operationName: operation.name?.value });
    return streamed(stream, { contentType: `${eventStream}; charset=utf-8`, headers: { "X-Accel-Buffering": "no" } });
  } catch (error) {
    return refusedInEvents(textOf(error instanceof GraphQLError ? error.toJSON() : faultOf(error, input)));
  }
}

const textOf = (error: GraphQLFormattedError): Buffer => Buffer.from(JSON.stringify({ errors: [error] }));

const refusedInEvents = (body: Buffer): HttpResponse => bytes(body, "application/json; charset=utf-8", { status: 400 });

/** Shows a malformed request as an error of GraphQL. @throws any other error again */
function faultOf(error: unknown, { requestId }: RouteInput): GraphQLFormattedError {
  if (!isAppError(error) || error.code !== "invalid_request") throw error;
  return { message: error.message, extensions: { ...graphqlExtensions(error), request_id: requestId } };
}

const askingOf = ({ principal, requestId, clientAddress, headers, signal }: RouteInput) => ({
  principal,
  requestId,
  clientAddress,
  signal,
  idempotencyKey: idempotencyKeyOf(headers["idempotency-key"]),
});

/** Writes a result, or a fault of the request, in the negotiated media type. */
async function answer(
  input: RouteInput,
  run: () => Promise<Outcome>,
  mediaType = input.mediaType,
): Promise<HttpResponse> {
  const { status, errors, body, isReplayed, cost, notes } = await run().then(
    (outcome) => ({ ...outcome, status: statusOf(outcome, mediaType) }),
    (error: unknown): Outcome => {
      const fault = faultOf(error, input);
      return { status: 400, errors: [fault], body: textOf(fault), notes: { reason: "invalid_request" } };
    },
  );
  input.note(notes);
  const challenge = stepUpChallenge(errors.flatMap(detailsOf));
  const headers: Record<string, string> = {};
  if (status === 405) headers.Allow = "POST";
  if (cost) {
    headers["X-Cost-Estimated"] = String(cost.estimated);
    headers["X-Cost-Actual"] = String(cost.actual);
  }
  if (isReplayed === true) headers["Idempotent-Replayed"] = "true";
  if (challenge !== null) headers["WWW-Authenticate"] = challenge;
  return bytes(body, `${mediaType}; charset=utf-8`, { status, headers });
}

const detailsOf = ({ extensions }: GraphQLFormattedError) => (extensions?.details ?? []) as readonly ErrorDetail[];

/**
 * GraphQL over HTTP, "Status Codes": a client of `application/json` gets 200 for a well-formed request with a refused
 * document, because a JSON answer with another status could come from any intermediary.
 */
const statusOf = ({ status }: Outcome, mediaType: string): number =>
  status === 400 && mediaType === "application/json" ? 200 : status;

/** Reads a request from a query string, in which an empty parameter is absent, as forms send it. */
function requestFromQuery(given: Readonly<Record<string, string | undefined>>): OperationRequest {
  const { query, documentId, operationName, variables, extensions } = given;
  return operationRequestFrom({
    query,
    documentId: documentId || undefined,
    operationName: operationName || undefined,
    variables: variables ? parsed(variables) : undefined,
    extensions: extensions ? parsed(extensions) : undefined,
  });
}

/** Parses a parameter as JSON by the rules of a body. */
const parsed = (text: string): unknown => parseJsonBody(Buffer.from(text)).value;

/**
 * Browsers send cookies and Basic credentials by themselves, so a foreign page could read through a plain GET. Bearer
 * tokens and keys are always sent explicitly.
 */
function refuseAmbientCredentials({ headers }: RouteInput): void {
  const isBasic = headers.authorization?.toLowerCase().startsWith("basic ") ?? false;
  if (headers.cookie === undefined && !isBasic && headers["sec-fetch-site"] !== "cross-site") return;
  throw new AppError("forbidden", "Send this query with POST.");
}
