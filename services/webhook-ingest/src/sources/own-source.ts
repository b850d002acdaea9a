import type { Caller } from "@signalbox/auth";
import { etagOfAnswer, type HttpResponse, ok, strongEtag } from "@signalbox/http";
import { type Load, type OwnRow, ownRows } from "@signalbox/service";
import type { IngestService } from "../context/ingest-service.ts";
import { missingSource, type Source } from "./source.ts";
import { findSource, findSources, lockSource } from "./source-store.ts";
import { SourceInFullResource, sourceInFull } from "./source-view.ts";

export const sourcePath = "/api/v1/webhooks/sources/:id";
export const webhooksRead = { scopes: ["webhooks:read"] } as const;
export const webhooksWrite = { scopes: ["webhooks:write"] } as const;

/** Finds a source of the caller, as the parent of what is below it. */
export const ownSource = (service: IngestService) => ({
  type: "WebhookSource",
  find: ({ caller, params }: { readonly caller: Caller; readonly params: { readonly id: string } }) =>
    findSource(service, caller.accountId, params.id),
  missing: missingSource,
});

/** Declares the caller, limits and parent of a list below a source, such as its received webhooks. */
export const belowSource = (service: IngestService) => ({
  auth: webhooksRead,
  limits: service.pageLimits,
  of: ownSource(service),
  parentId: ({ sourceId }: { readonly sourceId: string }) => sourceId,
});

/** Locks a source of the caller for a change of what is below it. */
export const lockedSource = (service: IngestService): OwnRow<Source, { readonly id: string }> => ({
  find: (tx, { caller, params }) => lockSource(service, tx, caller.accountId, params.id),
  missing: missingSource,
});

/** Locks a source of the caller for a change of its own, judged by its ETag. */
export const lockedOwnSource = (service: IngestService): OwnRow<Source, { readonly id: string }> => ({
  ...lockedSource(service),
  etag: sourceEtag,
});

export const loadOwnSource = (service: IngestService): Load<Source> =>
  ownRows(({ accountId }, ids) => findSources(service, accountId, ids));

/** The members `from` and `to` of a resource, which its row calls `fromAt` and `toAt`. */
export const between = ({ fromAt, toAt }: Between) => ({ from: fromAt, to: toAt });

/** The same as fields of the graph. */
export const betweenFields = { from: ({ fromAt }: Between) => fromAt, to: ({ toAt }: Between) => toAt };

type Between = Readonly<Record<"fromAt" | "toAt", Date>>;

const sourceEtag = (source: Source): string => strongEtag(source.revision, source.id);

export function showSource(service: IngestService, source: Source): HttpResponse {
  const shown = sourceInFull(service, source);
  return ok(shown, { etag: etagOfAnswer(sourceEtag(source), shown) });
}

/** The answer of an operation that changes a source. */
export const answerSource = (service: IngestService) =>
  ({
    responses: { 200: SourceInFullResource },
    idempotent: true,
    answer: (source: Source) => showSource(service, source),
  }) as const;
