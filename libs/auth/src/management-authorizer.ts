import type { IncomingHttpHeaders } from "node:http";
import { isAppError } from "@signalbox/core";
import { requireState } from "./access-rules.ts";
import type { Authenticator } from "./authenticator.ts";
import { credentialFrom } from "./credential.ts";
import type { Principal } from "./principal.ts";

interface Dependencies {
  readonly authenticate: Authenticator["authenticate"];
  /** Counts wrong credentials of an address, and throws when there are too many. */
  readonly countFailure: (address: string) => void;
  readonly recordRead: (reader: Principal, address: string) => void;
}

/**
 * Authorizes reads of the management `env`: requires `management:read`, presented as Basic, Bearer or `X-API-Key`; with
 * `config:admin` the caller is an operator. An outage of the account service is thrown as `unavailable`.
 */
export function createManagementAuthorizer({ authenticate, countFailure, recordRead }: Dependencies) {
  return async function authorizeManagement(headers: IncomingHttpHeaders, address: string) {
    try {
      const credential = credentialFrom(headers);
      if (!credential) return "unauthorized";
      const principal = await authenticate(credential);
      requireState(principal, "read");
      if (!principal.scopes.has("management:read")) return "forbidden";
      return { isOperator: principal.scopes.has("config:admin"), recordRead: () => recordRead(principal, address) };
    } catch (error) {
      if (!isAppError(error)) throw error;
      if (error.code === "forbidden") return "forbidden";
      if (error.code !== "unauthorized" && error.code !== "invalid_request") throw error;
      // Guessed credentials are limited by address; good ones from the same address keep working.
      countFailure(address);
      return "unauthorized";
    }
  };
}
