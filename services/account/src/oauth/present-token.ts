import { IncomingMessage } from "node:http";
import type { TokenVerifier, VerifiedToken } from "@signalbox/auth";
import { isAppError } from "@signalbox/core";
import { isForm } from "./form-body.ts";
import type { PresentedToken } from "./presented-token.ts";

interface Dependencies {
  readonly tokens: TokenVerifier;
  readonly presentedToken: PresentedToken;
}

/** Never the id of anything. */
const unknownToken = "unknown";

/**
 * Hands a request for revocation or introspection on to the provider, which looks opaque values up and refuses JWTs: an
 * access token of ours is verified and stands there by its `jti`; any other JWT is a token that nobody knows.
 */
export function createPresentToken({ tokens, presentedToken }: Dependencies) {
  return async function presentToken(
    request: IncomingMessage,
    body: Buffer,
    handOn: (request: IncomingMessage) => void,
  ): Promise<void> {
    const form = new URLSearchParams(body.toString());
    const [text, ...more] = form.getAll("token");
    // Whatever is wrong with the form, the provider says so.
    if (!isForm(request) || text === undefined || more.length > 0 || !looksLikeJwt(text)) {
      return handOn(copyOf(request, body));
    }
    const token = await verified(text);
    form.set("token", token ? String(token.claims.jti) : unknownToken);
    const copy = copyOf(request, Buffer.from(form.toString()));
    if (token) presentedToken.run(token, () => handOn(copy));
    else handOn(copy);
  };

  async function verified(text: string): Promise<VerifiedToken | null> {
    try {
      return await tokens.verify(text);
    } catch (error) {
      if (isAppError(error) && error.code === "unauthorized") return null;
      throw error;
    }
  }
}

/** What the provider would refuse: its first part is a JSON object (RFC 7515 §4). */
function looksLikeJwt(text: string): boolean {
  const [header = ""] = text.split(".", 1);
  try {
    const parsed: unknown = JSON.parse(Buffer.from(header, "base64url").toString());
    return typeof parsed === "object" && parsed !== null;
  } catch {
    return false;
  }
}

/** The same request with another body. The one that came has been read. */
function copyOf(request: IncomingMessage, body: Buffer): IncomingMessage {
  const copy = new IncomingMessage(request.socket);
  const { "transfer-encoding": _chunked, ...headers } = request.headers;
  copy.headers = { ...headers, "content-length": String(body.length) };
  copy.method = request.method;
  copy.url = request.url;
  // Else its end would be taken for a connection that broke.
  copy.complete = true;
  copy.push(body);
  copy.push(null);
  return copy;
}
