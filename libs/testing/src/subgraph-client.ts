import { internalTokenHeader } from "@signalbox/auth";
import { encodePrincipal, principalHeader } from "@signalbox/http";
import type { TestPerson } from "./account-stand-in.ts";
import { createSender, type TestAnswer } from "./sender.ts";

/** Sends an operation as a person, or anonymously; returns `data` and `errors`. */
export type SubgraphClient = (who: TestPerson | null, query: string, variables?: object) => Promise<TestAnswer["body"]>;

/** Queries the subgraph behind an internal listener as the gateway does, with the verified principal. */
export function createSubgraphClient(internalUrl: string): SubgraphClient {
  const send = createSender(internalUrl);
  return async (who, query, variables = {}) => {
    const options = { headers: internalHeaders(who), body: { query, variables } };
    return (await send(null, "POST", "/graphql", options)).body;
  };
}

/** The value of `internal.token` in tests. */
export const internalToken = "internal-token-of-the-signalbox-tests";

/** The headers of the gateway's requests to an internal listener: the internal token, and the verified principal. */
function internalHeaders(who: Pick<TestPerson, "principal"> | null): Record<string, string> {
  return {
    [internalTokenHeader]: internalToken,
    ...(who && { [principalHeader]: encodePrincipal(who.principal) }),
  };
}
