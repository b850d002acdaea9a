import type { AccessStates, Authenticator, PresentedCredential, Principal } from "@signalbox/auth";
import { requireAdmitted, requireScopes, requireState } from "@signalbox/auth";
import { type Audience, audienceOf, isVisibleTo, type SubscriptionDeclaration } from "@signalbox/contracts";
import { AppError, type Clock, isAppError, seconds } from "@signalbox/core";
import { addressBucket, turnOf } from "@signalbox/http";
import type { Runner } from "@signalbox/runtime";
import type { RequestCaller } from "../supergraph/subgraph-sender.ts";

interface Dependencies {
  readonly authenticator: Authenticator;
  readonly clock: Clock;
  readonly accessStates: AccessStates;
  readonly runner: Runner;
}

/** The caller of a new connection. */
export interface Opening extends RequestCaller {
  readonly credential: PresentedCredential | null;
}

interface Callbacks {
  /** Called when the access of the caller has changed. */
  readonly change: (caller: LiveCaller) => void;
  /** Called when the credential is no longer valid. */
  readonly end: (reason: AppError) => void;
}

/** A longer timer would fire immediately. */
const timerMsMax = 2 ** 31 - 1;
const recheckMs = seconds(1);

/**
 * The caller of a connection: its current principal, and the end of its access. Null credentials are those of an
 * anonymous caller.
 */
export class LiveCaller implements RequestCaller {
  principal: Principal | null;
  readonly requestId: string;
  readonly clientAddress: string;
  /** The account, or the address of an anonymous caller: whom work is charged to. */
  readonly payer: string;
  readonly #dependencies: Pick<Dependencies, "authenticator" | "clock">;
  readonly #on: Callbacks;
  #credential: PresentedCredential | null;
  /** Pending check of a change; nothing is sent until it settles. */
  #checking: Promise<void> = Promise.resolve();
  /** Number of checks: a late answer is outdated by a newer check. */
  #checks = 0;
  #expiry: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor(dependencies: Pick<Dependencies, "authenticator" | "clock">, opening: Opening, on: Callbacks) {
    this.#dependencies = dependencies;
    this.#on = on;
    this.#credential = opening.credential;
    this.principal = opening.principal;
    this.requestId = opening.requestId;
    this.clientAddress = opening.clientAddress;
    this.payer = turnOf(opening);
    this.#watchExpiry();
  }

  /** Equal for callers with the same view. */
  get view(): string {
    const { principal } = this;
    if (principal === null) return "";
    const { accountId, state, epoch, scopes, credential } = principal;
    return [accountId, state, epoch, credential.id, ...[...scopes].sort()].join(" ");
  }

  /** Resolves when the caller may receive events, judged by its current access. @throws AppError */
  async admit({ access, portal }: SubscriptionDeclaration): Promise<void> {
    await this.#checking;
    if (this.#isEnded) throw new AppError("unauthorized", "The credential is not valid.");
    if (this.principal !== null) requireAdmitted(this.principal, { portal });
    if (!("scope" in access)) return;
    if (this.principal === null) throw new AppError("unauthorized", "Send credentials.");
    requireState(this.principal, access.access);
    requireScopes(this.principal, [access.scope], { portal });
  }

  /** Returns true when the caller belongs to an audience that is not an account. */
  isOf(audience: Audience): boolean {
    return isVisibleTo(audienceOf(this.principal?.scopes ?? null), audience);
  }

  /** Continues with another credential of the same account. @throws AppError `forbidden` */
  renew(credential: PresentedCredential, principal: Principal): void {
    if (principal.accountId !== this.principal?.accountId)
      throw new AppError("forbidden", "This credential belongs to another account.");
    this.#credential = credential;
    this.#become(principal);
  }

  /** Resolves the caller again. Nothing is sent until that is done. */
  recheck(): void {
    const credential = this.#credential;
    if (credential === null || this.#isEnded) return;
    const check = ++this.#checks;
    const isLast = () => this.#checks === check && this.#credential === credential;
    this.#checking = this.#dependencies.authenticator.authenticate(credential).then(
      (principal) => {
        if (isLast()) this.#become(principal);
      },
      (error: unknown) => {
        // Nothing is sent while the access is unknown.
        const reason = isAppError(error) ? error : new AppError("unavailable", "The access state is unknown.");
        if (isLast()) this.#end(reason);
      },
    );
  }

  #become(principal: Principal): void {
    this.principal = principal;
    this.#watchExpiry();
    this.#on.change(this);
  }

  close(): void {
    this.#isEnded = true;
    clearTimeout(this.#expiry);
  }

  #end(reason: AppError): void {
    if (this.#isEnded) return;
    this.close();
    this.#on.end(reason);
  }

  #watchExpiry(): void {
    clearTimeout(this.#expiry);
    const { expiresAt } = this.principal ?? {};
    if (!expiresAt || this.#isEnded) return;
    const leftMs = Math.max(0, expiresAt.getTime() - this.#dependencies.clock.nowMs());
    // Never immediately: a credential may be accepted shortly after its end, and the caller must be notified first.
    this.#expiry = setTimeout(
      () => {
        if (leftMs > timerMsMax) this.#watchExpiry();
        else this.#end(new AppError("unauthorized", "The credential has expired."));
      },
      Math.min(timerMsMax, leftMs),
    );
  }
}

/**
 * Largest number of connections of one credential, or of one address without any: sockets, and event streams of one
 * subscription.
 */
const connectionsMax = { socket: 20, stream: 100 } as const;

/** The callers of this instance: each is checked again after a change of its access. */
export class LiveCallers {
  readonly #dependencies: Dependencies;
  /** Callers with the key of their count. */
  readonly #callers = new Map<LiveCaller, string>();
  readonly #counts = new Map<string, number>();

  constructor(dependencies: Dependencies) {
    const { accessStates, runner } = dependencies;
    this.#dependencies = dependencies;
    const stop = accessStates.onChange(({ id }) => {
      for (const caller of this.#callers.keys()) if (isAbout(id, caller)) caller.recheck();
    });
    runner.defer("live access", stop);
    // A silent log would announce no change, so the source is asked instead.
    runner.every("live access", recheckMs, async () => {
      if (!accessStates.isBehind()) return;
      for (const caller of this.#callers.keys()) caller.recheck();
    });
  }

  /** @throws AppError `rate_limited` for one connection too many */
  open(kind: keyof typeof connectionsMax, opening: Opening, on: Callbacks): LiveCaller {
    const { principal, clientAddress } = opening;
    const owner = `${kind} ${principal?.credential.id ?? addressBucket(clientAddress)}`;
    const count = (this.#counts.get(owner) ?? 0) + 1;
    if (count > connectionsMax[kind]) throw new AppError("rate_limited", "This caller has too many connections.");
    this.#counts.set(owner, count);
    const caller = new LiveCaller(this.#dependencies, opening, on);
    this.#callers.set(caller, owner);
    return caller;
  }

  close(caller: LiveCaller): void {
    caller.close();
    const owner = this.#callers.get(caller);
    if (owner === undefined) return;
    this.#callers.delete(caller);
    const left = (this.#counts.get(owner) ?? 1) - 1;
    if (left > 0) this.#counts.set(owner, left);
    else this.#counts.delete(owner);
  }
}

function isAbout(id: string, { principal }: LiveCaller): boolean {
  if (principal === null) return false;
  const { accountId, credential, member } = principal;
  return accountId === id || member?.accountId === id || credential.id === id || credential.tokenId === id;
}
