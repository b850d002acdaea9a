import type { Credential } from "./credential.ts";
import type { Principal } from "./principal.ts";

/** Decides who is asking. Everything a request's edge needs of this library. */
export interface Authenticator {
  /** Throws AppError `unauthorized` (401), `unavailable` (503, with Retry-After) and nothing else on purpose. */
  authenticate(credential: Credential): Promise<Principal>;
}
