import { AsyncLocalStorage } from "node:async_hooks";
import type { VerifiedToken } from "@signalbox/auth";

/**
 * The access token that the request under way presents for revocation or introspection, once its signature, audience
 * and time were checked. The provider refuses JWTs at these endpoints and looks up opaque values instead: it is handed
 * the `jti`, which is worth nothing outside of `run`.
 */
export function createPresentedToken() {
  const storage = new AsyncLocalStorage<VerifiedToken>();
  return {
    run: <T>(token: VerifiedToken, work: () => T): T => storage.run(token, work),
    /** The presented token if it is of this kind and has this `jti`. */
    of(kind: VerifiedToken["kind"], jti: string): VerifiedToken | undefined {
      const token = storage.getStore();
      return token?.kind === kind && token.claims.jti === jti ? token : undefined;
    },
  };
}

export type PresentedToken = ReturnType<typeof createPresentedToken>;
