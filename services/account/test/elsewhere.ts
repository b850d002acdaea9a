import {
  createAuthenticator,
  createPrincipalClient,
  credentialFrom,
  followAnnouncements,
  openAccessStates,
  type PresentedCredential,
  type Principal,
  requireState,
} from "@signalbox/auth";
import type { AccessKind } from "@signalbox/contracts";
import { type Clock, isAppError, systemClock } from "@signalbox/core";
import { openEventLog } from "@signalbox/events";
import { testContext } from "@signalbox/testing";
import type { Harness } from "./harness.ts";

interface ElsewhereOptions {
  readonly clock?: Clock;
  /** Replaces the address of the log, for a test that cuts the connection. */
  readonly eventsUrl?: (url: string) => string;
}

/** The access check of another service: its own reader of the state topic, with account as the source of principals. */
export async function startElsewhere(
  account: Harness,
  { clock = systemClock, eventsUrl = (url) => url }: ElsewhereOptions = {},
) {
  const context = testContext("images", {}, {}, { clock });
  const { configuration } = account.context;
  const eventLog = await openEventLog(eventsUrl(configuration.get("events.url")), {
    ...context,
    clientId: "elsewhere",
  });
  context.runner.defer("event log", () => eventLog.close());
  const accessStates = await openAccessStates({ ...context, eventLog });
  await accessStates.caughtUp;
  const principals = createPrincipalClient({ ...account.principals, ...context });
  const states = followAnnouncements(accessStates, { principals, runner: context.runner });
  const { authenticate } = createAuthenticator({ ...context, principals, accessStates: states, cacheMax: 100 });
  const principalOf = (headers: Record<string, string>): Promise<Principal> =>
    authenticate(credentialFrom(headers) as PresentedCredential);
  const may = async (headers: Record<string, string>, access: AccessKind): Promise<string> => {
    try {
      requireState(await principalOf(headers), access);
      return "yes";
    } catch (error) {
      if (!isAppError(error)) throw error;
      return error.details[0]?.code ?? error.code;
    }
  };
  return { may, principalOf, accessStates, close: context.close };
}
