import { AppError, type Clock, entryLimit, isAppError, minutes, seconds } from "@signalbox/core";
import type { Counter, Metrics } from "@signalbox/runtime";
import { LRUCache } from "lru-cache";
import { type AccessStates, knowledgeAgeMs } from "./access-states.ts";
import { looksLikeApiKey, parseApiKey } from "./api-key.ts";
import { digestCredential, type PresentedCredential } from "./credential.ts";
import type { Principal, PrincipalCredential, PrincipalSource } from "./principal.ts";

/** Authenticates callers: everything that the edge needs of this library. */
export interface Authenticator {
  /** Throws AppError `unauthorized` (401), `unavailable` (503, with Retry-After) and nothing else on purpose. */
  authenticate(credential: PresentedCredential): Promise<Principal>;
  /**
   * Returns the caller of a credential that is remembered and valid. Null leaves the decision to `authenticate`: about
   * any other credential, and about a refusal.
   */
  remembered(credential: PresentedCredential): Principal | null;
}

interface Dependencies {
  readonly principals: PrincipalSource;
  readonly accessStates: AccessStates;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Largest number of remembered principals, and of remembered refusals. */
  readonly cacheMax: number;
}

interface Known {
  principal: Principal;
  /** Time of the next question to the source. */
  refreshAtMs: number;
  /** Time of the next question while the state topic may lack changes, by the steady clock. */
  unheardUntilMs: number;
  /** The epoch of the access changes known when this principal was resolved. */
  accountEpoch: number;
  /** That of the person's own account; 0 without a member. */
  memberEpoch: number;
  credentialEpoch: number;
}

/** Time for which a refusal is remembered: it spares the source a client that repeats itself, and heals soon. */
const refusalMs = seconds(10);
/**
 * Age after which a remembered principal is resolved again, so that a lost access change heals. Keys and clients show
 * the minute of their last use, which the source learns from these questions.
 */
const refreshAfterMs = { token: minutes(5), "api-key": minutes(1), client: minutes(1), portal: minutes(1) } as const;
/** Time for which a remembered principal is used without another question, once the source turned out to be away. */
const awayRetryMs = seconds(5);

/**
 * Creates the authenticator of a service. A principal is remembered by the digest of its credential until it expires,
 * or until an access change makes it outdated. While the state topic may lack changes, the source is asked every two seconds.
 * While the source is away, remembered principals keep working with the state last read from the state topic, and unseen
 * credentials are `unavailable`.
 */
export function createAuthenticator(dependencies: Dependencies): Authenticator {
  const principals = new RememberedPrincipals(dependencies);
  return {
    authenticate: (credential) => principals.authenticate(credential),
    remembered: (credential) => principals.remembered(credential),
  };
}

class RememberedPrincipals implements Authenticator {
  readonly #principals: Dependencies["principals"];
  readonly #accessStates: Dependencies["accessStates"];
  readonly #clock: Clock;
  readonly #outcomes: Counter<"outcome">;
  readonly #known: LRUCache<string, Known>;
  readonly #refusedUntilMs: LRUCache<string, number>;
  readonly #inFlight = new Map<string, Promise<Principal>>();

  constructor({ principals, accessStates, clock, metrics, cacheMax }: Dependencies) {
    this.#outcomes = metrics.counter("signalbox_principals_total");
    this.#principals = principals;
    this.#accessStates = accessStates;
    this.#clock = clock;
    this.#known = new LRUCache(entryLimit(cacheMax));
    this.#refusedUntilMs = new LRUCache(entryLimit(cacheMax));
  }

  async authenticate(credential: PresentedCredential): Promise<Principal> {
    if (!this.#accessStates.isCaughtUp())
      throw new AppError("unavailable", "Access states are still loading.", { retryAfterSeconds: 1 });
    if (looksLikeApiKey(credential.value) && !parseApiKey(credential.value)) throw mistyped();
    const digest = digestCredential(credential);
    const known = this.#known.get(digest);
    if (known && !this.#isStale(known)) {
      this.#outcomes.inc({ outcome: "remembered" });
      return this.#admit(known.principal);
    }
    return this.#admit(await this.#ask(credential, digest));
  }

  remembered(credential: PresentedCredential): Principal | null {
    if (!this.#accessStates.isCaughtUp()) return null;
    const known = this.#known.get(digestCredential(credential));
    const principal = known && !this.#isStale(known) ? this.#admitted(known.principal) : null;
    if (principal) this.#outcomes.inc({ outcome: "remembered" });
    return principal;
  }

  /** Asks one question per credential at a time, for all requests that wait for the answer. */
  #ask(credential: PresentedCredential, digest: string): Promise<Principal> {
    const forget = () => this.#inFlight.delete(digest);
    const asked = this.#inFlight.get(digest) ?? this.#resolve(credential, digest).finally(forget);
    this.#inFlight.set(digest, asked);
    return asked;
  }

  async #resolve(credential: PresentedCredential, digest: string): Promise<Principal> {
    if ((this.#refusedUntilMs.get(digest) ?? 0) > this.#clock.nowMs()) {
      this.#outcomes.inc({ outcome: "refused" });
      throw refused();
    }
    try {
      let askedAtMs = this.#clock.steadyMs();
      let principal = await this.#principals.resolve(credential);
      // The change came during the look-up.
      if (this.#isOlderThanStates(principal)) {
        askedAtMs = this.#clock.steadyMs();
        principal = await this.#principals.resolve(credential);
      }
      const unheardUntilMs = askedAtMs + knowledgeAgeMs;
      this.#remember(digest, principal, { usableMs: refreshAfterMs[principal.credential.kind], unheardUntilMs });
      this.#outcomes.inc({ outcome: "asked" });
      return principal;
    } catch (error) {
      const known = this.#known.get(digest);
      const isRefused = isAppError(error) && error.code === "unauthorized";
      this.#outcomes.inc({ outcome: isRefused ? "refused" : "away" });
      if (isRefused) {
        this.#known.delete(digest);
        this.#refusedUntilMs.set(digest, this.#clock.nowMs() + refusalMs);
      } else if (known && isAppError(error) && error.code === "unavailable") {
        const unheardUntilMs = this.#clock.steadyMs() + awayRetryMs;
        this.#remember(digest, known.principal, { usableMs: awayRetryMs, unheardUntilMs });
        return known.principal;
      }
      throw error;
    }
  }

  #remember(
    digest: string,
    principal: Principal,
    { usableMs, unheardUntilMs }: { readonly usableMs: number; readonly unheardUntilMs: number },
  ): void {
    this.#known.set(digest, {
      principal,
      refreshAtMs: this.#clock.nowMs() + usableMs,
      unheardUntilMs,
      accountEpoch: Math.max(principal.epoch, this.#epochOf(principal.accountId)),
      memberEpoch: principal.member ? Math.max(principal.member.epoch, this.#epochOf(principal.member.accountId)) : 0,
      credentialEpoch: this.#accessStates.epochOfCredential(principal.credential.id),
    });
  }

  #isStale({ principal, refreshAtMs, unheardUntilMs, accountEpoch, memberEpoch, credentialEpoch }: Known): boolean {
    if (this.#clock.nowMs() >= refreshAtMs) return true;
    if (this.#accessStates.epochOfCredential(principal.credential.id) > credentialEpoch) return true;
    if (this.#epochOf(principal.accountId) > accountEpoch) return true;
    if (principal.member && this.#epochOf(principal.member.accountId) > memberEpoch) return true;
    return this.#accessStates.isBehind() && this.#clock.steadyMs() > unheardUntilMs;
  }

  #isOlderThanStates({ accountId, epoch, member }: Principal): boolean {
    if (this.#epochOf(accountId) > epoch) return true;
    return member !== undefined && this.#epochOf(member.accountId) > member.epoch;
  }

  #epochOf(accountId: string): number {
    return this.#accessStates.stateOf(accountId)?.epoch ?? 0;
  }

  #admit(principal: Principal): Principal {
    const admitted = this.#admitted(principal);
    if (admitted === null) throw refused();
    return admitted;
  }

  /**
   * Applies expiry, revocations and the account's newest state to a principal, from the source or from memory; null when
   * it is no longer valid.
   */
  #admitted(principal: Principal): Principal | null {
    if (principal.expiresAt !== null && principal.expiresAt.getTime() <= this.#clock.nowMs()) return null;
    const { id, tokenId } = principal.credential;
    const isRevoked = (name: string) => this.#accessStates.isRevoked(name);
    if (isRevoked(id) || (tokenId !== undefined && isRevoked(tokenId))) return null;
    const person = principal.member && this.#accessStates.stateOf(principal.member.accountId);
    if (person && person.state !== "active") return null;
    const newest = this.#accessStates.stateOf(principal.accountId);
    if (newest !== null && isSignedOut(principal.credential, newest.notBeforeMs)) return null;
    if (newest === null || newest.epoch <= principal.epoch) return principal;
    // The state topic has no reasons, and an earlier change does not explain a later state.
    const stateChange = newest.state === principal.state ? principal.stateChange : undefined;
    return { ...principal, state: newest.state, stateChange, epoch: newest.epoch };
  }
}

/**
 * Returns true for a token of another issuer whose account has signed out everywhere since. `iat` counts whole seconds,
 * so a token of that very second counts too.
 */
export function isSignedOut({ issuedAtMs }: PrincipalCredential, notBeforeMs: number | null): boolean {
  return issuedAtMs !== undefined && notBeforeMs !== null && issuedAtMs <= notBeforeMs;
}

const refused = () => new AppError("unauthorized", "The credential is not valid.");

/** Tells nothing of the keys that exist: everybody can compute the check digits. */
export const mistyped = () =>
  new AppError("unauthorized", "The API key is mistyped: a part is missing, or its check digits do not match.");
