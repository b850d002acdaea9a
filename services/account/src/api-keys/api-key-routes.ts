import { ApiKeyResource } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import {
  createRoutes,
  cursorByTime,
  ifMatch,
  noContent,
  ok,
  pageFrom,
  pageOf,
  pageParameters,
  readTimeCursor,
  refused,
} from "@signalbox/http";
import { z } from "zod";
import { actorOf } from "../audit/actor.ts";
import { type ApiKey, etagOfApiKey, viewApiKey } from "./api-key.ts";
import { ApiKeyPatch } from "./api-key-body.ts";
import type { ApiKeyStore } from "./api-key-store.ts";
import type { RenameApiKeyVerb } from "./rename-api-key.ts";
import type { RevokeApiKeyVerb } from "./revoke-api-key.ts";

interface Dependencies {
  readonly apiKeys: Pick<ApiKeyStore, "find" | "list">;
  readonly renameApiKey: RenameApiKeyVerb;
  readonly revokeApiKey: RevokeApiKeyVerb;
  readonly clock: Clock;
  readonly pageLimits: { readonly maxPageSize: () => number; readonly pageSize: () => number };
}

/** `/api/account/api-keys/`: credentials that act for the caller's account. */
export function apiKeyRoutes({ apiKeys, renameApiKey, revokeApiKey, clock, pageLimits }: Dependencies) {
  const routes = createRoutes({ errors: "account" });
  const answer = (key: ApiKey, now = clock.now()) => ok(viewApiKey(key, now), { etag: etagOfApiKey(key, now) });

  routes.get("/api/account/api-keys/", {
    summary: "List the account's API keys, newest first",
    auth: { scopes: ["account:read"], access: "own-account:read" },
    query: z.object(pageParameters(pageLimits)),
    responses: { 200: pageOf(ApiKeyResource) },
    async handle({ principal, query }) {
      const keys = await apiKeys.list(principal.accountId, {
        after: query.cursor === undefined ? null : readTimeCursor(query.cursor),
        limit: query.limit + 1,
      });
      const now = clock.now();
      return ok(pageFrom(keys, query.limit, (key) => viewApiKey(key, now), cursorByTime));
    },
  });

  routes.get("/api/account/api-keys/:key_id", {
    summary: "Read an API key, without the key itself",
    auth: { scopes: ["account:read"], access: "own-account:read" },
    responses: { 200: ApiKeyResource, 404: "error" },
    async handle({ principal, params }) {
      const key = await apiKeys.find(principal.accountId, params.key_id);
      return key ? answer(key) : refused(404, "not_found");
    },
  });

  routes.patch("/api/account/api-keys/:key_id", {
    summary: "Rename an API key",
    description: "Another name needs a recent sign-in; the same one changes nothing.",
    auth: { scopes: ["account:security"], stepUpFor: "another name" },
    body: { json: ApiKeyPatch, mergePatch: true },
    responses: { 200: ApiKeyResource, 204: "empty", 404: "error", 409: "error" },
    idempotent: true,
    async handle(input) {
      const result = await renameApiKey({
        principal: input.principal,
        keyId: input.params.key_id,
        name: input.body.name,
        by: actorOf(input),
        expect: (key) => ifMatch(input, etagOfApiKey(key, clock.now())),
        alongside: (tx, key) => input.idempotency.complete(tx, answer(key)),
      });
      return result.outcome === "not-found" ? refused(404, "not_found") : answer(result.key);
    },
  });

  routes.delete("/api/account/api-keys/:key_id", {
    summary: "Revoke an API key",
    description: "It stops working everywhere within two seconds. Revoking it again changes nothing.",
    auth: { scopes: ["account:security"], stepUp: true },
    responses: { 204: "empty", 404: "error", 409: "error" },
    idempotent: true,
    async handle(input) {
      const result = await revokeApiKey({
        accountId: input.principal.accountId,
        keyId: input.params.key_id,
        by: actorOf(input),
        expect: (key) => ifMatch(input, etagOfApiKey(key, clock.now())),
        alongside: (tx) => input.idempotency.complete(tx, noContent()),
      });
      return result === "not-found" ? refused(404, "not_found") : noContent();
    },
  });

  routes.delete("/api/account/current-api-key/", {
    summary: "Revoke the API key that this request came with",
    description: "For whoever holds a key that leaked, whatever its scopes. Any other credential is 404.",
    // It takes from its holder, and so wants nothing of them but the key.
    auth: { scopes: [], access: "own-account:read" },
    responses: { 204: "empty", 404: "error" },
    async handle(input) {
      const { accountId, credential } = input.principal;
      if (credential.kind !== "api-key") return refused(404, "not_found");
      const result = await revokeApiKey({ accountId, keyId: credential.id, by: actorOf(input) });
      return result === "not-found" ? refused(404, "not_found") : noContent();
    },
  });

  return routes;
}
