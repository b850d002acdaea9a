import {
  BackupResource,
  ConsumerGroupResource,
  InstanceResource,
  OperationInput,
  OperationWithReasonInput,
  OutboxResource,
  operationOutcome,
  ParkedMessageResource,
  UnavailableService,
  WorkerResource,
} from "@signalbox/contracts";
import { AppError, definedMembers, type ServiceName, serviceNames } from "@signalbox/core";
import {
  createRoutes,
  cursorMark,
  invalidCursor,
  listPage,
  ok,
  type PageLimits,
  pageOf,
  pageParameters,
  type Routes,
} from "@signalbox/http";
import { operatingBase } from "@signalbox/service";
import { z } from "zod";
import { type AskServices, askedServices } from "./ask-services.ts";
import { type MessageKind, messageKinds } from "./message-kinds.ts";

const base = "/api/v1/operations";
const read = { scopes: ["operations:read"] } as const;

/** Images answers for its worker, which has no listener. */
const ownerOf = (service: string): ServiceName | undefined =>
  askedServices.find((owner) => owner === (service === "image-worker" ? "images" : service));

const unavailable = z.array(UnavailableService).describe("Services that did not respond; the rest is shown.");

/** The operating state of the whole product for administrators: each service answers for what it owns. */
export function operatingApi(ask: AskServices, pageLimits: PageLimits): Routes {
  const routes = createRoutes();
  addStates(routes, ask);
  for (const kind of messageKinds) {
    addMessageList(routes, ask, kind, pageLimits);
    addMessageActions(routes, ask, kind);
  }
  addQueue(routes, ask, pageLimits);
  return routes;
}

/** Adds the lists that come whole. */
function addStates(routes: Routes, ask: AskServices): void {
  const list = (name: string, item: z.ZodType, from: readonly ServiceName[], summary: string, description: string) => {
    const answer = z.object({ items: z.array(item) });
    routes.get(`${base}/${name}`, {
      operationId: `operating${name[0]?.toUpperCase()}${name.slice(1)}`,
      summary,
      description,
      auth: read,
      responses: { 200: z.object({ items: z.array(item).describe("All of them."), unavailable }) },
      cache: "no-store",
      async handle({ caller, signal }) {
        const joined = await ask.getAll(from, `${operatingBase}${name}`, answer, { caller, signal });
        return ok({ items: joined.answers.flatMap(({ items }) => items), unavailable: joined.unavailable });
      },
    });
  };
  list(
    "instances",
    InstanceResource,
    ["config"],
    "List the instances of every service",
    "Each instance reports once a minute, on every configuration change, and when it is told to stop. Instances that have been silent for three minutes are left out.",
  );
  list("workers", WorkerResource, ["config"], "List the workers of every instance", "As each instance last reported.");
  list(
    "groups",
    ConsumerGroupResource,
    askedServices,
    "List the consumer groups with their lag",
    "Measured on each request.",
  );
  list("outbox", OutboxResource, askedServices, "List the outboxes", "Events that wait to be published, by service.");
  routes.get(`${base}/backups`, {
    operationId: "operatingBackups",
    summary: "List the backups, newest first",
    description: "Backups by `backup run` and `backup schedule`, which record here what they took and verified.",
    auth: read,
    responses: {
      200: z.object({
        items: z.array(BackupResource).describe("All of them."),
        is_watched: z
          .boolean()
          .describe("False if none was ever recorded or the config service is unavailable.")
          .meta({ examples: [true] }),
        unavailable,
      }),
    },
    cache: "no-store",
    async handle({ caller, signal }) {
      const answer = z.object({ items: z.array(BackupResource), is_watched: z.boolean() });
      const joined = await ask.getAll(["config"], `${operatingBase}backups`, answer, { caller, signal });
      const [{ items, is_watched } = { items: [], is_watched: false }] = joined.answers;
      return ok({ items, is_watched, unavailable: joined.unavailable });
    },
  });
}

/** Adds the list of what waits in the queue of one parked key. */
function addQueue(routes: Routes, ask: AskServices, pageLimits: PageLimits): void {
  routes.get(`${base}/parked/:id/messages`, {
    operationId: "parkedMessages",
    summary: "List the messages of a parked key in the order in which they are handled",
    description: "The first message failed, and the others wait behind it. Bodies are not shown.",
    auth: read,
    exampleIds: { id: "images.facts:acc_5Yb0cPq7TnV2sKxW9mRdLh" },
    query: z.object(pageParameters(pageLimits)),
    responses: { 200: pageOf(ParkedMessageResource), 404: "error" },
    cache: "no-store",
    handle({ caller, signal, params: { id }, query: { limit, cursor } }) {
      const answer = z.object({ items: z.array(ParkedMessageResource) });
      const mark = cursorMark("parked messages", { id });
      return listPage(
        { limit, cursor, mark },
        async ({ after, limit: rows }) => {
          const position = after && ([after.at.toISOString(), after.id, mark] as const);
          const path = `${operatingBase}parked/${encodeURIComponent(id)}/messages?${rangeText(rows, undefined, position)}`;
          return answer.parse(await ask.get(ownerOfId(id), path, { caller, signal })).items;
        },
        (message) => message,
        ({ since, id: place }) => ({ at: new Date(since), id: place }),
      );
    },
  });
}

/** The last message of a page, with the mark of its list. */
const Position = z.tuple([z.iso.datetime(), z.string().max(1024), z.string()]);

function addMessageList(routes: Routes, ask: AskServices, kind: MessageKind, pageLimits: PageLimits): void {
  const { collection, item, noun, summary } = kind;
  routes.get(`${base}/${collection}`, {
    operationId: `${memberName(noun)}s`,
    summary,
    description: "Bodies are not shown; read a message by its id for its body.",
    auth: read,
    query: z.object({
      service: z.enum(serviceNames).optional().describe("Only items of this service."),
      ...pageParameters(pageLimits),
    }),
    responses: {
      200: z.object({
        items: z.array(item).describe("The page."),
        next_cursor: z.string().optional().describe("Opaque; send it as `cursor` to get the next page."),
        has_more: z
          .boolean()
          .describe("True when a later page exists.")
          .meta({ examples: [false] }),
        unavailable,
      }),
    },
    cache: "no-store",
    async handle({ caller, signal, query: { service, limit, cursor } }) {
      const asked = service === undefined ? askedServices : [ownerOf(service) ?? []].flat();
      const mark = cursorMark(collection, { service });
      const path = `${operatingBase}${collection}?${rangeText(limit + 1, service, positionIn(cursor, mark))}`;
      const answer = z.object({ items: z.array(item) });
      const joined = await ask.getAll(asked, path, answer, { caller, signal });
      const sorted = joined.answers.flatMap(({ items }) => items).toSorted(inOrder);
      const items = sorted.slice(0, limit);
      const last = sorted.length > limit ? items.at(-1) : undefined;
      return ok({
        items,
        next_cursor: last && cursorOf(last, mark),
        has_more: last !== undefined,
        unavailable: joined.unavailable,
      });
    },
  });
}

type Listed = z.output<MessageKind["item"]>;

const inOrder = (a: Listed, b: Listed): number =>
  a.since === b.since ? Number(a.id > b.id) - Number(a.id < b.id) : a.since < b.since ? -1 : 1;

const cursorOf = ({ since, id }: Listed, mark: string): string =>
  Buffer.from(JSON.stringify([since, id, mark])).toString("base64url");

/** @throws AppError `invalid_request` for a cursor of another list, of another service, or of nothing */
function positionIn(cursor: string | undefined, mark: string): z.output<typeof Position> | null {
  if (cursor === undefined) return null;
  const position = Position.safeParse(decoded(cursor));
  if (position.success && position.data[2] === mark) return position.data;
  throw invalidCursor();
}

function rangeText(
  limit: number,
  service: string | undefined,
  position: readonly [at: string, id: string, mark: string] | null,
): string {
  const [after_at, after_id] = position ?? [];
  return new URLSearchParams(definedMembers({ limit: String(limit), service, after_at, after_id })).toString();
}

function decoded(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}

const memberName = (noun: string): string => `${noun[0]?.toLowerCase()}${noun.slice(1)}`;

function addMessageActions(routes: Routes, ask: AskServices, kind: MessageKind): void {
  const { collection, item, noun, detail, actions, exampleId } = kind;
  const exampleIds = { id: exampleId };
  const one = `${base}/${collection}/:id` as const;
  routes.get(one, {
    operationId: memberName(noun),
    summary: "Read one with its decoded body",
    description: "Text written by people or partners is masked. The read is recorded in your audit log.",
    auth: read,
    audit: detail.audit,
    exampleIds,
    responses: { 200: detail.schema, 404: "error" },
    async handle({ caller, signal, params }) {
      const path = `${operatingBase}${collection}/${encodeURIComponent(params.id)}`;
      const found = detail.schema.parse(await ask.get(ownerOfId(params.id), path, { caller, signal }));
      return ok(found, { etag: `"${found.version}"` });
    },
  });
  const outcome = operationOutcome(item, `${noun}Outcome`);
  for (const { verb, audit, summary, description, needsReason } of actions) {
    routes.post(`${one}/${verb}`, {
      operationId: `${verb}${noun}`,
      summary,
      description: `${description} Send the version that you have read as \`If-Match\`, in quotes; optional for a dry run.`,
      auth: { scopes: ["operations:write"] },
      audit,
      exampleIds,
      body: needsReason ? OperationWithReasonInput : OperationInput,
      responses: { 200: outcome, 404: "error", 409: "error" },
      async handle({ caller, signal, params, body, headers }) {
        const path = `${operatingBase}${collection}/${encodeURIComponent(params.id)}/${verb}`;
        const asking = { caller, signal };
        return ok(await ask.post(ownerOfId(params.id), path, body, headers["if-match"], asking));
      },
    });
  }
}

/** An id begins with its service, or with a consumer of it. @throws AppError `not_found` for any other */
function ownerOfId(id: string): ServiceName {
  const owner = ownerOf(id.split(/[.:]/, 1)[0] as string);
  if (owner === undefined) throw new AppError("not_found", "There is no such message.");
  return owner;
}
