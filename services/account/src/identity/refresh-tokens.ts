import { setTimeout as sleep } from "node:timers/promises";
import { AppError, seconds } from "@signalbox/core";
import { inTransaction } from "@signalbox/storage";
import Provider, { type AdapterPayload, errors, type KoaContextWithOIDC } from "oidc-provider";
import { revokeGrant } from "../sign-ins/issued-tokens.ts";
import type { IdentityService, Middleware } from "./identity-service.ts";
import { markStateUsed, readState, writeState } from "./state/state-store.ts";

/** An application that runs in several tabs, or that lost an answer, repeats a refresh token within this time. */
const repeatedMs = seconds(10);
/** Time that a repeated request waits for the answer to the first. */
const answerWaitMs = seconds(2);
const pauseMs = 50;

const model = "RefreshToken";
const answers = "RefreshAnswer";

/** The answer to a refresh, kept for concurrent requests with the same token. */
interface KeptAnswer {
  readonly body: Readonly<Record<string, unknown>>;
  /** The refresh request, to compare: a different request does not get this answer. */
  readonly asked: string;
}

/** The token was used a moment ago, and this was the answer. */
export class RepeatedRefresh extends errors.InvalidGrant {
  readonly answer: KeptAnswer["body"];

  constructor(answer: KeptAnswer["body"]) {
    super("already used");
    this.answer = answer;
  }
}

// Refresh tokens, each valid for one use. A repetition within ten seconds gets the same successor, as long as that is
// unused; any other second use is a theft and ends the grant (RFC 9700 §4.14.2).

export async function findRefreshToken(service: IdentityService, id: string): Promise<AdapterPayload | undefined> {
  const payload = await readState(service, model, id);
  if (!payload || Provider.ctx?.oidc.route !== "token") return payload as AdapterPayload | undefined;
  // Hides the earlier use, or the provider would end the grant at once; `consume` finds it out.
  const { consumed: _used, ...unused } = payload;
  return unused as AdapterPayload;
}

/** @throws RepeatedRefresh or InvalidGrant when it was already used. */
export async function consumeRefreshToken(service: IdentityService, id: string): Promise<void> {
  if (await markStateUsed(service, model, id, service.clock.now())) return;
  const { consumed, grantId } = (await readState(service, model, id)) ?? {};
  const isRecent = typeof consumed === "number" && service.clock.nowMs() - consumed * 1000 < repeatedMs;
  const answer = isRecent ? await answerOf(service, id) : null;
  if (answer !== null) throw new RepeatedRefresh(answer);
  await endGrant(service, String(grantId));
}

/** Keeps the answer to a refresh before it is sent. */
export const keepAnswerStep =
  (service: IdentityService): Middleware =>
  async (ctx, next) => {
    await next();
    await keepAnswer(service, ctx);
  };

async function keepAnswer(service: IdentityService, ctx: KoaContextWithOIDC): Promise<void> {
  const { oidc, body, status } = ctx;
  const { RotatedRefreshToken: used } = oidc?.entities ?? {};
  if (!used || status !== 200) return;
  const { grantId, accountId, jti } = used;
  const kept = { body, asked: askedIn(oidc), grantId, accountId };
  await writeState(service, answers, jti, kept, new Date(service.clock.nowMs() + repeatedMs)).catch((error: unknown) =>
    service.log.warn({ error }, "the response to a token refresh could not be stored"),
  );
}

/** The answer to the first use; null when its refresh token was used in turn, or has ended. */
async function answerOf(service: IdentityService, id: string): Promise<KeptAnswer["body"] | null> {
  const { body, asked } = await keptAnswer(service, id);
  if (asked !== askedIn(Provider.ctx?.oidc)) throw new errors.InvalidGrant("already used for another request");
  const successor = await readState(service, model, String(body.refresh_token));
  return successor && successor.consumed === undefined ? body : null;
}

async function keptAnswer(service: IdentityService, id: string): Promise<KeptAnswer> {
  for (let waitedMs = 0; waitedMs < answerWaitMs; waitedMs += pauseMs) {
    const kept = await readState(service, answers, id);
    if (kept) return kept as unknown as KeptAnswer;
    await sleep(pauseMs);
  }
  throw unanswered();
}

/** Ends every token of a code or refresh token that was used twice. */
export async function endGrant(service: IdentityService, grantId: string): Promise<never> {
  await inTransaction(service.pool, (tx) => revokeGrant(service, tx, grantId));
  throw new errors.InvalidGrant("already used");
}

const askedIn = (oidc: KoaContextWithOIDC["oidc"] | undefined): string =>
  JSON.stringify([oidc?.params?.scope ?? null, oidc?.params?.resource ?? null, oidc?.body?.account ?? null]);

/** The first request was interrupted, or its process is slow. */
const unanswered = () => new AppError("unavailable", "The refresh token is in use.", { retryAfterSeconds: 1 });
