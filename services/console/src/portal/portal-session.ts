import { ApiError, type PortalSession } from "@signalbox/client";
import type { QueryClient } from "@tanstack/react-query";
import { credentialQuery, portalQuery } from "../session/api.ts";
import { forgetSession, signInWithPortal } from "../session/session.ts";
import { Store } from "../session/store.ts";
import { askEmbedder } from "./embedder.ts";
import { applyTheme } from "./theme.ts";

/** The reason why a link opens nothing. */
export type Closed = "missing" | "ended" | "away";

type PortalState =
  | { readonly kind: "opening" }
  | { readonly kind: "closed"; readonly why: Closed }
  | { readonly kind: "open"; readonly session: PortalSession };

/** The state of the link. */
export const portalState = new Store<PortalState>({ kind: "opening" });

/**
 * Opens the session of the link. Its secret is the fragment of the address, which no request carries; it is taken out
 * of the address at once and stays in the memory of this page. Without one, as after a reload, the page around is asked.
 */
export async function openPortal(queries: QueryClient): Promise<void> {
  const given = location.hash.slice(1);
  history.replaceState(history.state, "", location.pathname + location.search);
  const closed = given === "" ? "missing" : await open(queries, given);
  if (closed === null) return;
  const fresh = closed === "away" ? null : await askEmbedder();
  const why = fresh === null ? closed : await open(queries, fresh);
  if (why === null) return;
  forgetSession();
  portalState.set({ kind: "closed", why });
}

/** Opens the session of a secret; returns why that did not work, or null. */
async function open(queries: QueryClient, secret: string): Promise<Closed | null> {
  // The first request asks for no other link: that would wait for itself.
  signInWithPortal(secret, async () => false);
  try {
    const session = await queries.fetchQuery({ ...portalQuery, staleTime: 0 });
    await queries.fetchQuery({ ...credentialQuery, staleTime: 0 });
    signInWithPortal(secret, () => renewOnce(queries));
    applyTheme(session.theme);
    portalState.set({ kind: "open", session });
    return null;
  } catch (error) {
    return error instanceof ApiError && [401, 403].includes(error.status) ? "ended" : "away";
  }
}

let renewal: Promise<boolean> | null = null;

/** Goes on with a new link of the page around; concurrent callers share one. What is shown and typed stays. */
function renewOnce(queries: QueryClient): Promise<boolean> {
  renewal ??= askEmbedder()
    .then(async (secret) => secret !== null && (await open(queries, secret)) === null)
    .finally(() => {
      renewal = null;
    });
  return renewal;
}
