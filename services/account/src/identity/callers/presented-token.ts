import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage } from "node:http";
import type { TokenVerifier, VerifiedToken } from "@signalbox/auth";
import { isAppError } from "@signalbox/core";
import { isForm, withBody } from "./request-form.ts";

/** Never a valid id. */
const unknownToken = "unknown";

/** The use of a token: the request is about it, or comes with it. */
type Use = "subject" | "credential";

/** The field of a form that holds the token. */
const fields: Readonly<Record<Use, string>> = { subject: "token", credential: "access_token" };

interface Presented {
  readonly token: VerifiedToken;
  readonly use: Use;
}

type HandOn = (request: IncomingMessage) => void;

/**
 * The access token of the present request, after its signature, audience and time were verified: submitted for
 * revocation or introspection, or the credential of a request for user information. The provider refuses JWTs at these
 * endpoints and looks up opaque values instead, so it gets the `jti`, which is worthless outside of this request.
 */
export class PresentedToken {
  readonly #tokens: TokenVerifier;
  readonly #storage = new AsyncLocalStorage<Presented>();

  constructor(tokens: TokenVerifier) {
    this.#tokens = tokens;
  }

  /** Returns the presented token if it has this kind and this `jti`. */
  of(kind: VerifiedToken["kind"], jti: string): Presented | undefined {
    const presented = this.#storage.getStore();
    return presented?.token.kind === kind && presented.token.claims.jti === jti ? presented : undefined;
  }

  /**
   * Passes a request to the provider with the `jti` in place of one of our access tokens, and with an unknown value in
   * place of any other JWT.
   */
  present(request: IncomingMessage, body: Buffer, handOn: HandOn): Promise<void> {
    return this.#presentInForm("subject", request, body, handOn);
  }

  /** The same for the token that a request comes with (RFC 6750 §2), in its header or its form. */
  async presentCredential(request: IncomingMessage, body: Buffer, handOn: HandOn): Promise<void> {
    const [scheme = "", text = ""] = (request.headers.authorization ?? "").split(" ");
    if (!looksLikeJwt(text)) return this.#presentInForm("credential", request, body, handOn);
    const token = await verified(text, this.#tokens);
    const copy = withBody(request, body);
    copy.headers.authorization = `${scheme} ${idOf(token)}`;
    this.#run(token, "credential", () => handOn(copy));
  }

  async #presentInForm(use: Use, request: IncomingMessage, body: Buffer, handOn: HandOn): Promise<void> {
    const form = new URLSearchParams(body.toString());
    const [text, ...more] = form.getAll(fields[use]);
    // The provider reports malformed forms itself.
    if (!isForm(request) || text === undefined || more.length > 0 || !looksLikeJwt(text)) {
      return handOn(withBody(request, body));
    }
    const token = await verified(text, this.#tokens);
    form.set(fields[use], idOf(token));
    const copy = withBody(request, Buffer.from(form.toString()));
    this.#run(token, use, () => handOn(copy));
  }

  #run(token: VerifiedToken | null, use: Use, handOn: () => void): void {
    if (token) this.#storage.run({ token, use }, handOn);
    else handOn();
  }
}

const idOf = (token: VerifiedToken | null): string => (token ? String(token.claims.jti) : unknownToken);

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
