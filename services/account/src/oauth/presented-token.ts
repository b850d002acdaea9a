import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage } from "node:http";
import type { TokenVerifier, VerifiedToken } from "@signalbox/auth";
import { isAppError } from "@signalbox/core";
import { isForm, withBody } from "./form-body.ts";

export type PresentedToken = ReturnType<typeof createPresentedToken>;

/** Never the id of anything. */
const unknownToken = "unknown";

/**
 * The access token that the request under way presents for revocation or introspection, once its signature, audience
 * and time were checked. The provider refuses JWTs at these endpoints and looks up opaque values instead: it is handed
 * the `jti`, which is worth nothing outside of this one request.
 */
export function createPresentedToken(tokens: TokenVerifier) {
  const storage = new AsyncLocalStorage<VerifiedToken>();

  return {
    /** Answers the presented token if it is of this kind and has this `jti`. */
    of(kind: VerifiedToken["kind"], jti: string): VerifiedToken | undefined {
      const token = storage.getStore();
      return token?.kind === kind && token.claims.jti === jti ? token : undefined;
    },

    /**
     * Hands a request on to the provider with the `jti` of an access token of ours in its place, and with any other JWT
     * as a token that nobody knows.
     */
    async present(request: IncomingMessage, body: Buffer, handOn: (request: IncomingMessage) => void): Promise<void> {
      const form = new URLSearchParams(body.toString());
      const [text, ...more] = form.getAll("token");
      // Whatever is wrong with the form, the provider says so.
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
