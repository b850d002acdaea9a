import {
  type AccessStates,
  type Authenticator,
  createAuthenticator,
  createManagementAuthorizer,
  createPrincipalClient,
  type internalProperties,
  openAccessStates,
  type PrincipalSource,
  type principalProperties,
} from "@signalbox/auth";
import type { Configuration } from "@signalbox/config";
import type { EventLog } from "@signalbox/events";
import type { ServiceContext } from "@signalbox/runtime";
import type { SharedParts } from "./shared-parts.ts";

type Context = Omit<ServiceContext<unknown>, "configuration"> & {
  readonly configuration: Pick<Configuration<typeof internalProperties & typeof principalProperties>, "get">;
} & Pick<SharedParts, "accessStates">;

export interface Access {
  readonly authenticator: Authenticator;
  readonly accessStates: AccessStates;
  readonly authorizeManagement: ReturnType<typeof createManagementAuthorizer>;
}

/** Who is asking, and what their account may do now. */
export async function openAccess(context: Context, eventLog: EventLog): Promise<Access> {
  const { configuration, service, instance, log, metrics, runner, health, clock } = context;
  const accessStates =
    context.accessStates ?? (await openAccessStates({ eventLog, service, instance, log, metrics, runner, health }));
  const authenticator = createAuthenticator({
    principals: principalClient(context),
    accessStates,
    clock,
    cacheMax: configuration.get("auth.principals.cache-max"),
  });
  return { authenticator, accessStates, authorizeManagement: createManagementAuthorizer(authenticator) };
}

function principalClient({ configuration, clock, runner }: Context): PrincipalSource {
  const [token = ""] = configuration.get("internal.token");
  return createPrincipalClient({ url: configuration.get("account.internal-url"), token, clock, runner });
}
