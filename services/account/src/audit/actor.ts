import type { Caller, Principal } from "@signalbox/auth";
import type { Actor } from "./audit.ts";

interface Request {
  readonly principal: Principal;
  readonly requestId: string;
  /** Null when it is not known. */
  readonly clientAddress: string | null;
}

/** Who caused what a request does: the owner of an account, unless the route is one of administrators. */
export function actorOf(from: Request | Caller, kind: Actor["kind"] = "owner"): Actor {
  const { accountId, credential } = "principal" in from ? from.principal : from;
  return { kind, accountId, credential: credential.id, address: from.clientAddress, requestId: from.requestId };
}
