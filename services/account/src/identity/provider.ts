import type { EventEmitter } from "node:events";
import { errorBody, isAppError } from "@signalbox/core";
import { defaultMessages, isNotModified, resourceMetadataOf, strongEtag } from "@signalbox/http";
import { toAppError } from "@signalbox/storage";
import Provider, { errors, type KoaContextWithOIDC } from "oidc-provider";
import { choosingModels } from "./adapter.ts";
import { type Count, devicePollSeconds, type RequestLimits, tellCount, tooManyRequests } from "./callers/callers.ts";
import { canonicalResources, claimedClientId, promptWithConsent } from "./callers/request-form.ts";
import { deviceStep } from "./device-grant-pages.ts";
import type { IdentityService, Middleware } from "./identity-service.ts";
import { type IssuerAddress, metadataPrefix } from "./issuer-settings.ts";
import { acceptsClientSecret, noteRefusedClient, serviceClientOf } from "./provider-clients.ts";
import { providerConfiguration } from "./provider-configuration.ts";
import { isProviderPage, replaceProviderPage, showFormPost } from "./provider-pages.ts";
import { keepAnswerStep, RepeatedRefresh } from "./refresh-tokens.ts";
import { originOf } from "./sign-in-visit.ts";
import { signOutStep } from "./sign-out.ts";
import type { PrivateJwk } from "./signing-keys/signing-key.ts";
import { stateDigest } from "./state/state-store.ts";

/** Creates an OpenID provider from our configuration, with our middleware, log and audit. */
export function createProvider(service: IdentityService, signingKeys: readonly PrivateJwk[]): Provider {
  const { settings, callers } = service;
  const { address, errorDocs } = settings;
  const provider = new (providerWithOurPages(service))(address.issuer, providerConfiguration(service, signingKeys));
  // The address is set on every request before the provider sees it.
  provider.proxy = true;
  provider.Client.prototype.compareClientSecret = async function compareClientSecret(secret) {
    if (!(await acceptsClientSecret(service, this.clientId, secret))) return false;
    if (!callers.limits.client(this.clientId).allowed) throw new TooManyRequests();
    return true;
  };
  // The provider reads of a stored model only what it declares.
  for (const model of choosingModels) {
    const declared = { value: [...provider[model].IN_PAYLOAD, "account"] };
    Object.defineProperty(provider[model], "IN_PAYLOAD", declared);
  }
  const steps = [
    underPath(address),
    nothingHere(errorDocs, callers.limits),
    countClients(callers.limits),
    cachedForMinutes,
    withoutSessionClaim,
    withResourceMetadata(address),
    hiddenFromForeignPages,
    readQuery(address),
    withoutScript(service),
    signOutStep(service),
    deviceStep(service),
    slowDown(callers.limits),
    keepAnswerStep(service),
  ];
  for (const step of steps) provider.use(step);
  watchRefusals(service, provider);
  watchFailures(service, provider);
  return provider;
}

/** The provider registers its response modes when it is created; its own page to post an answer is not ours. */
const providerWithOurPages = (service: IdentityService) =>
  class extends Provider {
    override registerResponseMode(...[name, handler]: Parameters<Provider["registerResponseMode"]>): void {
      super.registerResponseMode(name, name === "form_post" ? showFormPost.bind(null, service) : handler);
    }
  };

/**
 * The provider lets the page of any origin read an answer until it knows the client, and so the refusal of an unknown
 * one. Public documents stay readable, and so do preflights, and the refusal of a token: the page sent it.
 */
const hiddenFromForeignPages: Middleware = async (ctx, next) => {
  await next();
  if (ctx.method !== "POST" || ctx.path.toLowerCase() === "/userinfo") return;
  if (!ctx.oidc?.client) ctx.remove("Access-Control-Allow-Origin");
};

/** The provider routes by the path below the mount, and writes public URLs. */
function underPath({ path, below }: IssuerAddress): Middleware {
  return async (ctx, next) => {
    const { path: whole } = ctx;
    ctx.mountPath = path;
    ctx.path = below(whole) || "/";
    try {
      await next();
    } finally {
      // The log line of the request names the requested path.
      ctx.path = whole;
    }
  };
}

/** Answers unknown paths like every other route does; only these count by client address. */
function nothingHere(docs: string, limits: RequestLimits): Middleware {
  return async (ctx, next) => {
    await next();
    if (ctx.status !== 404 || ctx.body) return;
    const requestId = ctx.response.get("X-Request-Id");
    const count = limits.stray(ctx.req);
    tellCount(ctx.res, count);
    const code = count.allowed ? "not_found" : "rate_limited";
    ctx.body = errorBody({ code, message: defaultMessages[code], requestId, docs });
    ctx.type = "application/json";
    ctx.status = count.allowed ? 404 : 429;
  };
}

class TooManyRequests extends errors.CustomOIDCProviderError {
  override status = 429;
  override statusCode = 429;

  constructor() {
    super(tooManyRequests.error, tooManyRequests.error_description);
  }
}

/** Paths whose requests need a client's credential or its token. */
const takesClients = new Set([
  "/token",
  "/introspect",
  "/revoke",
  "/userinfo",
  "/device-authorization",
  "/pushed-request",
]);

/**
 * Counts failed client authentications after they were judged, so that a client with the right secret is not refused
 * because others guess; and adds the remaining allowance to a service client's answer.
 */
function countClients(limits: RequestLimits): Middleware {
  return async (ctx, next) => {
    await next();
    if (!takesClients.has(ctx.path.toLowerCase())) return;
    const client = ctx.oidc?.client;
    if (ctx.status === 401 || (ctx.status === 400 && !client)) {
      refuseBeyond(ctx, limits.failure(ctx.req, client?.clientId ?? null));
    } else if (client && serviceClientOf(client)) {
      tellCount(ctx.res, { ...limits.clientRemains(client.clientId), allowed: ctx.status !== 429 });
    } else if (client && ctx.path.toLowerCase() === "/userinfo") {
      // Only the token names the application; the other paths were counted by the listener.
      const count = limits.application(ctx.req, client.clientId);
      if (count) refuseBeyond(ctx, count);
    }
  };
}

function refuseBeyond(ctx: KoaContextWithOIDC, count: Count): void {
  tellCount(ctx.res, count);
  if (count.allowed) return;
  ctx.status = 429;
  ctx.body = tooManyRequests;
  ctx.remove("WWW-Authenticate");
}

/** Tells a device that asks too often to slow down (RFC 8628 §3.5); its answer is never held back. */
function slowDown(limits: RequestLimits): Middleware {
  return async (ctx, next) => {
    await next();
    const { error } = (ctx.body ?? {}) as { error?: unknown };
    if (ctx.path.toLowerCase() !== "/token" || error !== "authorization_pending") return;
    const digest = stateDigest(String(ctx.oidc.params?.device_code)).toString("base64url");
    if (limits.devicePoll(digest).allowed) return;
    const description = `poll at most once every ${devicePollSeconds} seconds`;
    ctx.body = { error: "slow_down", error_description: description };
  };
}

const publicDocuments = new Set(["/jwks", "/.well-known/openid-configuration", metadataPrefix]);

/** Five minutes are much shorter than the time a key is published before it signs. */
const cachedForMinutes: Middleware = async (ctx, next) => {
  const isPublic = publicDocuments.has(ctx.path);
  await next();
  if (!isPublic || ctx.status !== 200) return;
  const etag = strongEtag(JSON.stringify(ctx.body), ctx.path);
  ctx.set({ "Cache-Control": "public, max-age=300", ETag: etag });
  if (isNotModified(ctx, etag)) ctx.status = 304;
};

/** The provider always lists `sid`, which only applications with a logout channel are told, and there is none here. */
const withoutSessionClaim: Middleware = async (ctx, next) => {
  await next();
  const body = ctx.body as { claims_supported?: readonly string[] } | undefined;
  if (body?.claims_supported) body.claims_supported = body.claims_supported.filter((name) => name !== "sid");
};

/** Adds the address of our metadata to the challenge of the userinfo endpoint (RFC 9728 §5.1). */
function withResourceMetadata({ audience }: IssuerAddress): Middleware {
  return async (ctx, next) => {
    await next();
    const challenge = String(ctx.res.getHeader("WWW-Authenticate") ?? "");
    if (!challenge.startsWith("Bearer ")) return;
    ctx.set("WWW-Authenticate", `${challenge}, resource_metadata="${resourceMetadataOf(audience)}"`);
  };
}

/**
 * Refresh tokens require a request for consent (OpenID Connect Core §11). Our applications never need consent, so a
 * request for them counts as one.
 */
function readQuery({ audience }: IssuerAddress): Middleware {
  return async (ctx, next) => {
    const { scope, prompt, resource = [] } = ctx.query;
    if (ctx.path === "/authorize") {
      const wanted = promptWithConsent(scope, prompt);
      const resources = canonicalResources([resource].flat(), audience);
      ctx.query = {
        ...ctx.query,
        ...(wanted !== null && { prompt: wanted }),
        ...(resources.length > 0 && { resource: [...resources] }),
      };
    }
    await next();
  };
}

/**
 * The provider has pages of its own that submit themselves by script, which our pages never run: each is replaced by a
 * page of ours with its form.
 */
function withoutScript(service: IdentityService): Middleware {
  return async (ctx, next) => {
    await next();
    if (isProviderPage(ctx)) await replaceProviderPage(service, ctx);
  };
}

const refusals = [
  "authorization.error",
  "grant.error",
  "introspection.error",
  "revocation.error",
  "userinfo.error",
  "end_session.error",
  "end_session_confirm.error",
  "end_session_success.error",
  "device_authorization.error",
  "code_verification.error",
  "device_resume.error",
  "pushed_authorization_request.error",
] as const;

/**
 * Logs the provider's refusals, without the parameters, and notifies the owner of a client that failed to authenticate.
 */
function watchRefusals(service: IdentityService, provider: Provider): void {
  const { log } = service;
  for (const event of refusals) {
    // The events differ only in their names.
    provider.on(event as "grant.error", (ctx, error) => {
      if (error instanceof RepeatedRefresh) return answerAgain(ctx, error);
      log.info(refusal(ctx, error), "the issuer refused a request");
      const clientId = error.error === "invalid_client" ? serviceClientIdOf(ctx) : null;
      if (clientId === null) return;
      const from = originOf(service, { request: ctx.req, response: ctx.res });
      noteRefusedClient(service, clientId, from).catch((failure) =>
        log.error({ error: failure }, "a refused client could not be written to the audit"),
      );
    });
  }
}

/** The provider has written a refusal that was not sent yet. */
function answerAgain(ctx: KoaContextWithOIDC, { answer }: RepeatedRefresh): void {
  ctx.status = 200;
  ctx.body = answer;
}

function refusal({ path }: KoaContextWithOIDC, error: errors.OIDCProviderError) {
  return { path, reason: error.error, detail: error.error_description };
}

/** The service client that a request claims to be, unverified; null for any other. */
function serviceClientIdOf({ oidc, headers }: KoaContextWithOIDC): string | null {
  const id = claimedClientId(oidc.params?.client_id, headers.authorization) ?? "";
  return /^cli_[0-9A-Za-z]{1,60}$/.test(id) ? id : null;
}

/** Logs the provider's errors, and distinguishes outages and clients that hung up from bugs. */
function watchFailures({ log }: IdentityService, provider: Provider): void {
  // Without a listener, Koa prints its errors on standard error: those of answers that could not be written.
  const koa: EventEmitter = provider;
  koa.on("error", (error: unknown, ctx: KoaContextWithOIDC) => {
    if (hasLeft(ctx)) log.info({ path: ctx.path, error }, clientLeft);
    else log.error({ path: ctx.path, error }, "the issuer could not write an answer");
  });
  provider.on("server_error", (ctx, error) => {
    if (hasLeft(ctx)) return log.info({ path: ctx.path, error }, clientLeft);
    const cause = toAppError(error);
    log.error({ path: ctx.path, error: cause }, "the issuer failed to respond");
    if (!isAppError(cause) || cause.code !== "unavailable") return;
    ctx.status = 503;
    ctx.set("Retry-After", String(cause.retryAfterSeconds ?? 1));
  });
}

const clientLeft = "a client disconnected before the issuer responded";

/** Returns true when the connection of a request has ended before its answer. */
const hasLeft = ({ req, res }: KoaContextWithOIDC): boolean => req.socket.destroyed || res.destroyed;
