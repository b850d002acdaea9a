import type { IncomingHttpHeaders } from "node:http";
import { isAppError } from "@signalbox/core";
import { requireState } from "./access-rules.ts";
import type { Authenticator } from "./authenticator.ts";
import { credentialFrom } from "./credential.ts";

/**
 * Decides who may read the management `env`: `management:read`, presented as Basic, Bearer or `X-API-Key`. With
 * `config:admin` as well it is an operator. What was wrong is counted by `countFailure`, which throws when it is too much.
 * An outage of the account service is thrown on as `unavailable`, because it is none of the answers.
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
      // Whoever keeps guessing is told to wait; good credentials from the same address keep working.
      countFailure(address);
      return "unauthorized";
    }
  };
}
