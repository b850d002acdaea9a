import type { IncomingHttpHeaders } from "node:http";
import { isAppError } from "@signalbox/core";
import { requireState } from "./access-rules.ts";
import type { Authenticator } from "./authenticator.ts";
import { credentialFrom } from "./credential.ts";

/**
 * Authorizes reads of the management `env`: requires `management:read`, presented as Basic, Bearer or `X-API-Key`; with
 * `config:admin` the caller is an operator. Wrong credentials are counted by `countFailure`, which throws when there
 * are too many. An outage of the account service is thrown as `unavailable`.
 */
export function createManagementAuthorizer({ authenticate }: Authenticator, countFailure: (address: string) => void) {
  return async function authorizeManagement(
    headers: IncomingHttpHeaders,
    address: string,
  ): Promise<"ok" | "operator" | "unauthorized" | "forbidden"> {
    try {
      const credential = credentialFrom(headers);
      if (!credential) return "unauthorized";
      const principal = await authenticate(credential);
      requireState(principal, "read");
      if (!principal.scopes.has("management:read")) return "forbidden";
      return principal.scopes.has("config:admin") ? "operator" : "ok";
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
