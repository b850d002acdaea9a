import { type Clock, minutes } from "@signalbox/core";
import type { IssuedTokenStore } from "./issued-token-store.ts";
import type { OauthStateStore } from "./oauth-state-store.ts";

interface Dependencies {
  readonly oauthState: Pick<OauthStateStore, "trim">;
  readonly issuedTokens: Pick<IssuedTokenStore, "trim">;
  readonly clock: Clock;
}

/** Clocks differ: what has just ended here may still be asked for elsewhere. */
const graceMs = minutes(5);
/** Keeps one statement short. */
const batch = 1000;

/** Removes what has ended by itself. Several instances share the work. */
export function createTrimOauth({ oauthState, issuedTokens, clock }: Dependencies) {
  return async function trimOauth(): Promise<void> {
    const at = new Date(clock.nowMs() - graceMs);
    for (const { trim } of [oauthState, issuedTokens]) while ((await trim(at, batch)) === batch);
  };
}
