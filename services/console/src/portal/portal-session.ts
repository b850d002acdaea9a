import { ApiError } from "@signalbox/client";
import type { QueryClient } from "@tanstack/react-query";
import { credentialQuery, type PortalSession, portalQuery } from "../session/api.ts";
import { forgetSession, signInWithPortal } from "../session/session.ts";
import { applyTheme } from "./theme.ts";

/** The reason why a link opens nothing. */
export type Closed = "missing" | "ended" | "away";

export type PortalState =
  | { readonly kind: "opening" }
  | { readonly kind: "closed"; readonly why: Closed }
  | { readonly kind: "open"; readonly session: PortalSession };

let state: PortalState = { kind: "opening" };
const listeners = new Set<() => void>();

export const readPortal = (): PortalState => state;

export function onPortalChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function become(next: PortalState): void {
  state = next;
  for (const listener of listeners) listener();
}

/**
 * Opens the session of the link. Its secret is the fragment of the address, which no request carries; it is taken out
 * of the address at once and stays in the memory of this page.
 */
export async function openPortal(queries: QueryClient): Promise<void> {
  const secret = location.hash.slice(1);
  if (secret === "") return become({ kind: "closed", why: "missing" });
  history.replaceState(history.state, "", location.pathname + location.search);
  signInWithPortal(secret);
  try {
    const [session] = await Promise.all([queries.fetchQuery(portalQuery), queries.fetchQuery(credentialQuery)]);
    applyTheme(session.theme);
    become({ kind: "open", session });
  } catch (error) {
    forgetSession();
    const isRefused = error instanceof ApiError && [401, 403].includes(error.status);
    become({ kind: "closed", why: isRefused ? "ended" : "away" });
  }
}
