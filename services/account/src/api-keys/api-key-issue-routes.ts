import type { Clock } from "@signalbox/core";
import { created, createRoutes, type HttpResponse, ifMatch, refused, statusOf } from "@signalbox/http";
import { actorOf } from "../audit/actor.ts";
import { type ApiKey, etagOfApiKey, viewApiKey } from "./api-key.ts";
import { ApiKeyRotation, IssuedApiKey, NewApiKey } from "./api-key-body.ts";
import type { IssueApiKeyVerb } from "./issue-api-key.ts";
import { type KeyRefusal, refusedIssue, refusedRotation } from "./key-refusals.ts";
import type { RotateApiKeyVerb } from "./rotate-api-key.ts";

interface Dependencies {
  readonly issueApiKey: IssueApiKeyVerb;
  readonly rotateApiKey: RotateApiKeyVerb;
  readonly clock: Clock;
}

/** The routes whose answer shows a key, the only time anybody sees it. */
export function apiKeyIssueRoutes({ issueApiKey, rotateApiKey, clock }: Dependencies) {
  const routes = createRoutes({ errors: "account" });

  routes.post("/api/account/api-keys/", {
    summary: "Make an API key",
    description: "The answer shows the key once. Repeat the request with its `Idempotency-Key` to read it again.",
    auth: { scopes: ["account:security"], stepUp: true },
    body: NewApiKey,
    responses: { 201: IssuedApiKey, 404: "error", 409: "error", 422: "error" },
    idempotent: "sealed",
    async handle(input) {
      const { principal, body } = input;
      const result = await issueApiKey({
        accountId: principal.accountId,
        grantable: principal.scopes,
        name: body.name,
        scopes: body.scopes,
        roles: [],
        expiresAt: body.expires_at,
        by: actorOf(input),
        alongside: (tx, key, text) => input.idempotency.complete(tx, shown(key, text)),
      });
      return result.outcome === "issued" ? shown(result.key, result.text) : refusedWith(refusedIssue(result));
    },
  });

  routes.post("/api/account/api-keys/:key_id/rotate", {
    summary: "Replace an API key",
    description:
      "Makes a key with the same name, scopes and lifetime, and shows it once. The old one works until the overlap is over. `If-Match` is about the old one.",
    auth: { scopes: ["account:security"], stepUp: true },
    body: ApiKeyRotation,
    responses: { 201: IssuedApiKey, 404: "error", 409: "error" },
    idempotent: "sealed",
    async handle(input) {
      const result = await rotateApiKey({
        principal: input.principal,
        keyId: input.params.key_id,
        overlapSeconds: input.body.overlap_seconds,
        by: actorOf(input),
        expect: (key) => ifMatch(input, etagOfApiKey(key, clock.now())),
        alongside: (tx, key, text) => input.idempotency.complete(tx, shown(key, text)),
      });
      return result.outcome === "rotated" ? shown(result.key, result.text) : refusedWith(refusedRotation(result));
    },
  });

  return routes;

  /** The validator is that of the key as GET shows it, for the change that comes next. */
  function shown(key: ApiKey, text: string): HttpResponse {
    const now = clock.now();
    const body = { ...viewApiKey(key, now), key: text };
    return created(`/api/account/api-keys/${key.id}`, body, { etag: etagOfApiKey(key, now) });
  }
}

const refusedWith = ({ code, message, details }: KeyRefusal): HttpResponse =>
  refused(statusOf[code], code, { message, details });
