import { AppError, type Clock, isAppError, minutes, seconds } from "@signalbox/core";
import { LRUCache } from "lru-cache";
import type { AccessStates } from "./access-states.ts";
import { looksLikeApiKey, parseApiKey } from "./api-key.ts";
import { type Credential, digestCredential } from "./credential.ts";
import type { Principal } from "./principal.ts";
import type { PrincipalSource } from "./principal-source.ts";

/** Decides who is asking. Everything a request's edge needs of this library. */
export interface Authenticator {
  /** Throws AppError `unauthorized` (401), `unavailable` (503, with Retry-After) and nothing else on purpose. */
  authenticate(credential: Credential): Promise<Principal>;
}

interface Dependencies {
  readonly principals: PrincipalSource;
  readonly accessStates: Pick<AccessStates, "stateOf" | "isRevoked" | "epochOfCredential" | "isCaughtUp">;
  readonly clock: Clock;
  /** How many principals are remembered, and as many refused credentials. */
  readonly cacheMax: number;
}

interface Known {
  principal: Principal;
  /** When to ask again. */
  refreshAtMs: number;
  /** The access changes that were known when this principal was asked for. */
  accountEpoch: number;
  credentialEpoch: number;
}

/** How long a refusal is remembered: it spares the source a client that repeats itself, and heals by itself soon. */
const refusalMs = seconds(10);
/**
 * After this long a remembered principal is asked for again, so that a lost access change heals. Keys and clients show
 * when they were last used, to the minute, which the source learns by being asked.
 */
const refreshAfterMs = { token: minutes(5), "api-key": minutes(1), client: minutes(1) } as const;
/** How long a remembered principal is used without asking again, once the source turned out to be away. */
const awayRetryMs = seconds(5);

/**
 * Creates the authenticator of a service. A principal is remembered by the digest of its credential until it expires,
 * or until an access change makes it outdated. While the source is away, remembered principals keep working with the
 * state last read from the state topic, and unseen credentials are `unavailable`.
 */
export function createAuthenticator(dependencies: Dependencies): Authenticator {
  const { principals, accessStates, clock, cacheMax } = dependencies;
  const known = new LRUCache<string, Known>({ max: cacheMax });
  const refusedUntilMs = new LRUCache<string, number>({ max: cacheMax });
  const inFlight = new Map<string, Promise<Principal>>();

  return {
    async authenticate(credential) {
      if (!accessStates.isCaughtUp())
        throw new AppError("unavailable", "Access is being read.", { retryAfterSeconds: 1 });
      if (looksLikeApiKey(credential.value) && !parseApiKey(credential.value)) throw refused();
      const digest = digestCredential(credential);
      const remembered = known.get(digest);
      const principal = remembered && !isStale(remembered) ? remembered.principal : await ask(credential, digest);
      return admitted(principal);
    },
  };

  /** One question per credential at a time, however many requests wait for the answer. */
  function ask(credential: Credential, digest: string): Promise<Principal> {
    const asked = inFlight.get(digest) ?? resolve(credential, digest).finally(() => inFlight.delete(digest));
    inFlight.set(digest, asked);
    return asked;
  }

  async function resolve(credential: Credential, digest: string): Promise<Principal> {
    if ((refusedUntilMs.get(digest) ?? 0) > clock.nowMs()) throw refused();
    try {
      const principal = await principals.resolve(credential);
      remember(digest, principal, clock.nowMs() + refreshAfterMs[principal.credential.kind]);
      return principal;
    } catch (error) {
      const remembered = known.get(digest);
      if (isAppError(error) && error.code === "unauthorized") {
        known.delete(digest);
        refusedUntilMs.set(digest, clock.nowMs() + refusalMs);
      } else if (remembered && isAppError(error) && error.code === "unavailable") {
        remember(digest, remembered.principal, clock.nowMs() + awayRetryMs);
        return remembered.principal;
      }
      throw error;
    }
  }

  function remember(digest: string, principal: Principal, refreshAtMs: number): void {
    const accountEpoch = Math.max(principal.epoch, accessStates.stateOf(principal.accountId)?.epoch ?? 0);
    const credentialEpoch = accessStates.epochOfCredential(principal.credential.id);
    known.set(digest, { principal, refreshAtMs, accountEpoch, credentialEpoch });
  }

  function isStale({ principal, refreshAtMs, accountEpoch, credentialEpoch }: Known): boolean {
    if (clock.nowMs() >= refreshAtMs) return true;
    if (accessStates.epochOfCredential(principal.credential.id) > credentialEpoch) return true;
    return (accessStates.stateOf(principal.accountId)?.epoch ?? 0) > accountEpoch;
  }

  /** The last word is with time, revocations and the account's newest state, whichever way the principal came. */
  function admitted(principal: Principal): Principal {
    if (principal.expiresAt !== null && principal.expiresAt.getTime() <= clock.nowMs()) throw refused();
    const { id, tokenId } = principal.credential;
    if (accessStates.isRevoked(id) || (tokenId !== undefined && accessStates.isRevoked(tokenId))) throw refused();
    const newest = accessStates.stateOf(principal.accountId);
    if (newest === null || newest.epoch <= principal.epoch) return principal;
    return { ...principal, state: newest.state, epoch: newest.epoch };
  }
}

const refused = () => new AppError("unauthorized", "The credential is not valid.");
