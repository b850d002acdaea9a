import type { Principal } from "@signalbox/auth";
import type { Actor } from "./audit.ts";

interface Request {
  readonly principal: Principal;
  readonly requestId: string;
  /** Null when it is not known. */
  readonly clientAddress: string | null;
}

/** Who caused what a request does: the owner of an account, unless the route is one of administrators. */
export function actorOf({ principal, requestId, clientAddress }: Request, kind: Actor["kind"] = "owner"): Actor {
  return {
    kind,
    accountId: principal.accountId,
    credential: principal.credential.id,
    address: clientAddress,
    requestId,
  };
}
