import { isAppError, seconds } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import type { AccessStates } from "./access-states.ts";
import type { PrincipalSource } from "./principal-source.ts";

/** With the half second that account allows the topic, a change that it lacks is noticed within two. */
const askEveryMs = seconds(1);

/**
 * Adds to the states of a reader what the writer knows: a broker that takes nothing for account may be read by everybody,
 * and then only account can say that a change is missing. While account does not answer, changes count as missing.
 */
export function followAnnouncements(
  states: AccessStates,
  {
    principals,
    runner,
  }: { readonly principals: Pick<PrincipalSource, "hasUnannounced">; readonly runner: Pick<Runner, "every"> },
): AccessStates {
  let hasUnannounced = false;
  runner.every("access announcements", askEveryMs, async () => {
    hasUnannounced = await principals.hasUnannounced().catch((error: unknown) => {
      if (!isAppError(error)) throw error;
      return true;
    });
  });
  return { ...states, isBehind: (forMs) => hasUnannounced || states.isBehind(forMs) };
}
