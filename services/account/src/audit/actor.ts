import type { Principal } from "@signalbox/auth";
import type { Actor } from "./audit.ts";

interface Request {
  readonly principal: Principal;
  readonly requestId: string;
  readonly clientAddress: string;
}

/** Who caused what a request does. */
export function actorOf({ principal, requestId, clientAddress }: Request): Actor {
  return {
    accountId: principal.accountId,
    credential: principal.credential.id,
    address: clientAddress,
    requestId,
  };
}
