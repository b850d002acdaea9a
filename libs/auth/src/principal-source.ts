import type { PresentedCredential } from "./credential.ts";
import type { Principal } from "./principal.ts";

/**
 * Turns a credential into a principal, provisioning the account of a new identity. The account service has the one that
 * knows, every other service has one that asks it.
 */
export interface PrincipalSource {
  /** Throws AppError `unauthorized` for a credential that is not good, `unavailable` when that cannot be found out now. */
  resolve(credential: PresentedCredential): Promise<Principal>;
  /**
   * Whether an access change was committed that the state topic still lacks after half a second. Throws AppError
   * `unavailable` when that cannot be found out now.
   */
  hasUnannounced(): Promise<boolean>;
}
