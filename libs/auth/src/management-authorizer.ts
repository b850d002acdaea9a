import type { IncomingHttpHeaders } from "node:http";
import { isAppError } from "@signalbox/core";
import { requireState } from "./access-rules.ts";
import type { Authenticator } from "./authenticator.ts";
import { credentialFrom } from "./credential.ts";

/**
 * Decides who may read the management `env`: `management:read`, presented as Basic, Bearer or `X-API-Key`.
 * An outage of the account service is thrown on as `unavailable`, because it is neither of the three answers.
 */
export function createManagementAuthorizer({ authenticate }: Authenticator) {
  return async function authorizeManagement(
    headers: IncomingHttpHeaders,
  ): Promise<"ok" | "unauthorized" | "forbidden"> {
    try {
      const credential = credentialFrom(headers);
      if (!credential) return "unauthorized";
      const principal = await authenticate(credential);
      requireState(principal, "read");
      return principal.scopes.has("management:read") ? "ok" : "forbidden";
    } catch (error) {
      if (!isAppError(error)) throw error;
      if (error.code === "forbidden") return "forbidden";
      if (error.code === "unauthorized" || error.code === "invalid_request") return "unauthorized";
      throw error;
    }
  };
}
