import { internalTokenHeader } from "@signalbox/auth";
import { encodePrincipal, principalHeader } from "@signalbox/graphql";
import type { TestPerson } from "./account-stand-in.ts";

/** The value of `internal.token` in tests. */
export const internalToken = "internal-token-of-the-signalbox-tests";

/** The headers of the gateway's requests to an internal listener: the internal token, and the verified principal. */
export function internalHeaders(who: Pick<TestPerson, "principal"> | null): Record<string, string> {
  return {
    [internalTokenHeader]: internalToken,
    ...(who && { [principalHeader]: encodePrincipal(who.principal) }),
  };
}
