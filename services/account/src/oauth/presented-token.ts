import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage } from "node:http";
import type { TokenVerifier, VerifiedToken } from "@signalbox/auth";
import { isAppError } from "@signalbox/core";
import { isForm, withBody } from "./form-body.ts";

export type PresentedToken = ReturnType<typeof createPresentedToken>;

/** Never a valid id. */
const unknownToken = "unknown";

/**
 * The access token that the present request submits for revocation or introspection, after its signature, audience and
 * time were verified. The provider refuses JWTs at these endpoints and looks up opaque values instead, so it gets the
 * `jti`, which is worthless outside of this request.
 */
export function createPresentedToken(tokens: TokenVerifier) {
  const storage = new AsyncLocalStorage<VerifiedToken>();

  return {
    /** Returns the presented token if it has this kind and this `jti`. */
    of(kind: VerifiedToken["kind"], jti: string): VerifiedToken | undefined {
      const token = storage.getStore();
      return token?.kind === kind && token.claims.jti === jti ? token : undefined;
    },

    /**
     * Passes a request to the provider with the `jti` in place of one of our access tokens, and with an unknown value
     * in place of any other JWT.
     */
    async present(request: IncomingMessage, body: Buffer, handOn: (request: IncomingMessage) => void): Promise<void> {
      const form = new URLSearchParams(body.toString());
      const [text, ...more] = form.getAll("token");
      // The provider reports malformed forms itself.
      if (!isForm(request) || text === undefined || more.length > 0 || !looksLikeJwt(text)) {
        return handOn(withBody(request, body));
      }
      const token = await verified(text, tokens);
      form.set("token", token ? String(token.claims.jti) : unknownToken);
      const copy = withBody(request, Buffer.from(form.toString()));
      if (token) storage.run(token, () => handOn(copy));
      else handOn(copy);
    },
  };
}

async function verified(text: string, tokens: TokenVerifier): Promise<VerifiedToken | null> {
  try {
    return await tokens.verify(text);
  } catch (error) {
    if (isAppError(error) && error.code === "unauthorized") return null;
    throw error;
  }
}

/** The provider would refuse a text whose first part is a JSON object (RFC 7515 §4). */
function looksLikeJwt(text: string): boolean {
  const [header = ""] = text.split(".", 1);
  try {
    const parsed: unknown = JSON.parse(Buffer.from(header, "base64url").toString());
    return typeof parsed === "object" && parsed !== null;
  } catch {
    return false;
  }
}
