import { type AccessStates, knowledgeAgeMs, type Principal, type PrincipalSource, stateRefusal } from "@signalbox/auth";
import { type Clock, isAppError, seconds } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import type { StreamClient } from "./stream-client.ts";

export interface FollowerAccess {
  readonly accessStates: AccessStates;
  readonly principals: PrincipalSource;
  readonly clock: Clock;
  readonly runner: Runner;
}

/** Checked often enough, and early enough, that a stream ends when the knowledge of its access is two seconds old. */
const lookEveryMs = seconds(0.25);
const unheardMs = knowledgeAgeMs - seconds(0.5);
/** Time for which account's answer is valid for every follower. */
const askEveryMs = seconds(1);
const askedAtOnce = 50;

/**
 * Ends the streams of clients without access: immediately after a change on the state topic, and while the topic may
 * lack a change by asking account about each credential, like every request. While neither can be reached, streams
 * continue.
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

/** Returns true when the access of a principal has changed since it was resolved. */
export function isOutdated(
  { accountId, epoch, member, credential: { id, tokenId } }: Principal,
  { stateOf, isRevoked }: AccessStates,
): boolean {
  if (member && (stateOf(member.accountId)?.epoch ?? 0) > member.epoch) return true;
  return (stateOf(accountId)?.epoch ?? 0) > epoch || isRevoked(id) || (tokenId !== undefined && isRevoked(tokenId));
}

function isMeant({ accountId, credential, member }: Principal, kind: "account" | "credential", id: string): boolean {
  return kind === "account"
    ? accountId === id || member?.accountId === id
    : credential.id === id || credential.tokenId === id;
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

/**
 * Resolves the principal at account again: `null` for an invalid credential, the known one during an outage of account.
 */
async function principalNow(
  { principal, credential }: StreamClient,
  principals: PrincipalSource,
): Promise<Principal | null> {
  try {
    return await principals.resolve(credential);
  } catch (error) {
    if (!isAppError(error)) throw error;
    return error.code === "unauthorized" ? null : principal;
  }
}

/** After any other change of access the client reconnects and is judged again. */
const mayGoOn = (known: Principal, now: Principal | null): boolean =>
  now !== null &&
  now.epoch <= known.epoch &&
  (now.member?.epoch ?? 0) <= (known.member?.epoch ?? 0) &&
  stateRefusal(now, "subscribe") === null;
