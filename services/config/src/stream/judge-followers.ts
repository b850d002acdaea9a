import { type AccessStates, knowledgeAgeMs, type Principal, type PrincipalSource, stateRefusal } from "@signalbox/auth";
import { type Clock, isAppError, seconds } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import type { StreamClient } from "./stream-client.ts";

export interface FollowerAccess {
  readonly accessStates: Pick<AccessStates, "onChange" | "isBehind" | "stateOf" | "isRevoked">;
  readonly principals: Pick<PrincipalSource, "resolve">;
  readonly clock: Clock;
  readonly runner: Pick<Runner, "every">;
}

/** Looked at so often, and begun so early, that a stream has ended when what is known of its access is two seconds old. */
const lookEveryMs = seconds(0.25);
const unheardMs = knowledgeAgeMs - seconds(0.5);
/** How long account's answer is good for all who follow. */
const askEveryMs = seconds(1);
const askedAtOnce = 50;

/**
 * Ends the streams of those who may no longer follow: at once when the state topic tells, and while the topic may lack a
 * change by asking account about each credential, as every request does. While neither can be reached, streams go on.
 */
export function judgeFollowers(clients: ReadonlySet<StreamClient>, access: FollowerAccess): void {
  const { accessStates, clock, runner } = access;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  accessStates.onChange(({ kind, id }) => {
    for (const client of clients) if (isMeant(client.principal, kind, id)) client.end("access_changed");
  });
  runner.every("stream access", lookEveryMs, async () => {
    if (clock.steadyMs() - askedAtMs < askEveryMs || !accessStates.isBehind(unheardMs)) return;
    askedAtMs = clock.steadyMs();
    await askAbout(clients, access);
  });
}

/** Tells if the access of a principal has changed since it was asked for. */
export function isOutdated(
  { accountId, epoch, credential: { id, tokenId } }: Principal,
  { stateOf, isRevoked }: FollowerAccess["accessStates"],
): boolean {
  return (stateOf(accountId)?.epoch ?? 0) > epoch || isRevoked(id) || (tokenId !== undefined && isRevoked(tokenId));
}

function isMeant({ accountId, credential }: Principal, kind: "account" | "credential", id: string): boolean {
  return kind === "account" ? accountId === id : credential.id === id || credential.tokenId === id;
}

async function askAbout(clients: ReadonlySet<StreamClient>, { principals }: FollowerAccess): Promise<void> {
  const ofCredential = Map.groupBy(clients, ({ credential: { kind, value } }) => `${kind} ${value}`);
  const waiting = [...ofCredential.values()];
  const ask = async () => {
    for (let some = waiting.pop(); some !== undefined; some = waiting.pop()) {
      const now = await principalNow(some[0] as StreamClient, principals);
      for (const client of some) if (!mayGoOn(client.principal, now)) client.end("access_changed");
    }
  };
  await Promise.all(Array.from({ length: askedAtOnce }, ask));
}

/** The principal as account knows it now, `null` for a credential that is no longer good; the known one when account is away. */
async function principalNow(
  { principal, credential }: StreamClient,
  principals: FollowerAccess["principals"],
): Promise<Principal | null> {
  try {
    return await principals.resolve(credential);
  } catch (error) {
    if (!isAppError(error)) throw error;
    return error.code === "unauthorized" ? null : principal;
  }
}

/** Whoever is ended for another change of access asks again, and is judged by what holds then. */
const mayGoOn = (known: Principal, now: Principal | null): boolean =>
  now !== null && now.epoch <= known.epoch && stateRefusal(now, "subscribe") === null;
