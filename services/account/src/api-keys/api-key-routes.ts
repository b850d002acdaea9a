import { ApiKeyResource, type Scope, scopes } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import {
  created,
  createRoutes,
  noContent,
  ok,
  pageFrom,
  pageOf,
  pageParameters,
  readCursor,
  refused,
  writeCursor,
} from "@signalbox/http";
import { z } from "zod";
import { ruledText } from "../accounts/account-body.ts";
import { checkDisplayName } from "../accounts/account-fields.ts";
import { actorOf } from "../audit/actor.ts";
import { type ApiKey, viewApiKey } from "./api-key.ts";
import type { ApiKeyStore } from "./api-key-store.ts";
import type { IssueApiKeyVerb } from "./issue-api-key.ts";
import type { RevokeApiKeyVerb } from "./revoke-api-key.ts";

interface Dependencies {
  readonly apiKeys: Pick<ApiKeyStore, "find" | "list">;
  readonly issueApiKey: IssueApiKeyVerb;
  readonly revokeApiKey: RevokeApiKeyVerb;
  readonly clock: Clock;
  readonly pageLimits: { readonly maxPageSize: () => number; readonly pageSize: () => number };
}

const NewApiKey = z.strictObject({
  name: ruledText(checkDisplayName).meta({ description: "For people.", minLength: 1, maxLength: 100 }),
  scopes: z.array(z.enum(scopes)).min(1).max(scopes.length).describe("No more than the creator's own."),
  expires_at: z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text))
    .nullable()
    .default(null)
    .describe("When the key ends; null, or absent, for never."),
});

const IssuedApiKey = ApiKeyResource.extend({
  key: z.string().describe("The key itself. It is shown this once."),
}).meta({ id: "IssuedApiKey" });

/** Milliseconds up to the year 9999, and an id: nothing that the database could stumble over. */
const Position = z.tuple([z.int().min(0).max(253_402_300_799_999), z.string().regex(/^key_[0-9A-Za-z]{1,40}$/)]);
const pathOf = (key: ApiKey): string => `/api/account/api-keys/${key.id}`;

/** `/api/account/api-keys/`: credentials that act for the caller's account. */
export function apiKeyRoutes({ apiKeys, issueApiKey, revokeApiKey, clock, pageLimits }: Dependencies) {
  const routes = createRoutes({ errors: "account" });

  routes.post("/api/account/api-keys/", {
    summary: "Make an API key",
    description: "The answer shows the key once. Repeat the request with its `Idempotency-Key` to read it again.",
    auth: { scopes: ["account:security"], stepUp: true },
    body: NewApiKey,
    responses: { 201: IssuedApiKey, 409: "error", 422: "error" },
    idempotent: "sealed",
    async handle(input) {
      const { principal, body } = input;
      const answer = (key: ApiKey, text: string) =>
        created(pathOf(key), { ...viewApiKey(key, clock.now()), key: text });
      const result = await issueApiKey({
        accountId: principal.accountId,
        grantable: principal.scopes,
        name: body.name,
        scopes: body.scopes,
        roles: [],
        expiresAt: body.expires_at,
        by: actorOf(input),
        alongside: (tx, key, text) => input.idempotency.complete(tx, answer(key, text)),
      });
      switch (result.outcome) {
        case "issued":
          return answer(result.key, result.text);
        case "scopes-beyond-creator":
          return refused(422, "validation_error", { details: result.scopes.map(beyondCreator) });
        case "expiry-passed":
          return refused(422, "validation_error", { details: [expiryPassed] });
      }
    },
  });

  routes.get("/api/account/api-keys/", {
    summary: "List the account's API keys, newest first",
    auth: { scopes: ["account:read"], access: "own-account:read" },
    query: z.object(pageParameters(pageLimits)),
    responses: { 200: pageOf(ApiKeyResource) },
    async handle({ principal, query }) {
      const keys = await apiKeys.list(principal.accountId, {
        after: query.cursor === undefined ? null : positionFrom(query.cursor),
        limit: query.limit + 1,
      });
      const now = clock.now();
      return ok(pageFrom(keys, query.limit, (key) => viewApiKey(key, now), cursorOf));
    },
  });

  routes.get("/api/account/api-keys/:key_id", {
    summary: "Read an API key, without the key itself",
    auth: { scopes: ["account:read"], access: "own-account:read" },
    responses: { 200: ApiKeyResource, 404: "error" },
    async handle({ principal, params }) {
      const key = await apiKeys.find(principal.accountId, params.key_id);
      return key ? ok(viewApiKey(key, clock.now())) : refused(404, "not_found");
    },
  });

  routes.delete("/api/account/api-keys/:key_id", {
    summary: "Revoke an API key",
    description: "It stops working everywhere within two seconds. Revoking it again changes nothing.",
    auth: { scopes: ["account:security"], stepUp: true },
    responses: { 204: "empty", 404: "error" },
    idempotent: true,
    async handle(input) {
      const result = await revokeApiKey({
        accountId: input.principal.accountId,
        keyId: input.params.key_id,
        by: actorOf(input),
        alongside: (tx) => input.idempotency.complete(tx, noContent()),
      });
      return result === "not-found" ? refused(404, "not_found") : noContent();
    },
  });

  return routes;
}

/** The place of a key in the list, opaque to clients. GraphQL uses the same. */
export function cursorOf({ createdAt, id }: ApiKey): string {
  return writeCursor([createdAt.getTime(), id]);
}

/** @throws AppError `invalid_request` for a cursor that we did not write. */
export function positionFrom(cursor: string) {
  const [createdAtMs, id] = readCursor(cursor, Position);
  return { createdAt: new Date(createdAtMs), id };
}

const beyondCreator = (scope: Scope) => ({
  field: "scopes",
  code: "beyond_creator",
  message: `You do not have the scope ${scope}, so a key of yours cannot have it.`,
});

const expiryPassed = { field: "expires_at", code: "passed", message: "This time has passed." };
