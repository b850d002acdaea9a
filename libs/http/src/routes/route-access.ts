import type { AccessKind, Scope } from "@signalbox/contracts";
import type { Method, RouteAuth } from "./route-spec.ts";

/** A declaration of `auth` with its defaults filled in. */
export interface RouteAccess {
  /** Nobody is asked who they are. */
  readonly anonymous: boolean;
  /** Callers without credentials are let in too. */
  readonly optional: boolean;
  readonly access: AccessKind;
  readonly scopes: readonly Scope[];
  readonly stepUp: boolean;
  readonly stepUpFor: string | null;
}

/** Works out who may call a route, with what a declaration leaves out. */
export function routeAccess(auth: RouteAuth, method: Method): RouteAccess {
  const access: AccessKind = method === "get" ? "read" : "write";
  if (auth === "anonymous")
    return { anonymous: true, optional: true, access, scopes: [], stepUp: false, stepUpFor: null };
  return {
    anonymous: false,
    optional: auth.optional ?? false,
    access: auth.access ?? access,
    scopes: auth.scopes,
    stepUp: auth.stepUp ?? false,
    stepUpFor: auth.stepUpFor ?? null,
  };
}
