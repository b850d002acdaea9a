import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createIssuerKey, type IssuerKey, type SigningAlgorithm } from "./issuer-key.ts";
import { createTestTokens, type SignOptions, type TokenClaims, type WrongTokens } from "./token.ts";

export interface OidcIssuer {
  /** The `iss` of its tokens; discovery is below it. */
  readonly issuer: string;
  readonly audience: string;
  /**
   * Signs a valid access token: `iss`, `aud`, `sub`, `iat`, `exp` and `jti` are filled in unless the claims have them.
   */
  sign(claims?: TokenClaims, options?: SignOptions): string;
  /** Signs with a new key from now on; the earlier ones stay published until `withdrawOldKeys`. */
  rotate(algorithm?: SigningAlgorithm): void;
  withdrawOldKeys(): void;
  /** Publishes these beside its keys, before them. */
  publish(others: readonly unknown[]): void;
  readonly wrong: WrongTokens;
  /** Answers every request with this status; `null` serves normally again. */
  fail(status: number | null): void;
  /** Paths requested so far. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

interface IssuerOptions {
  readonly audience?: string;
  /** A curve where many tests make an issuer each: an RSA key takes a fifth of a second. */
  readonly algorithm?: SigningAlgorithm;
}

/** A real OIDC issuer on 127.0.0.1 with discovery, a key set and rotating keys. */
export async function createOidcIssuer({
  audience = "signalbox",
  algorithm = "RS256",
}: IssuerOptions = {}): Promise<OidcIssuer> {
  let keys: IssuerKey[] = [createIssuerKey(algorithm)];
  let others: readonly unknown[] = [];
  let failure: number | null = null;
  const requests: string[] = [];
  const current = () => keys[0] as IssuerKey;

  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    const document = failure === null ? documentsOf(issuer, keys, others)[request.url ?? ""] : undefined;
    response.writeHead(failure ?? (document ? 200 : 404), { "content-type": "application/json" });
    response.end(JSON.stringify(document ?? {}));
  });
  const issuer = await listen(server);

  return {
    issuer,
    audience,
    ...createTestTokens({ issuer, audience, key: current }),
    rotate: (next = algorithm) => {
      keys = [createIssuerKey(next), ...keys];
    },
    withdrawOldKeys: () => {
      keys = [current()];
    },
    publish: (published) => {
      others = published;
    },
    fail: (status) => {
      failure = status;
    },
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The published documents, by path. */
function documentsOf(issuer: string, keys: readonly IssuerKey[], others: readonly unknown[]): Record<string, unknown> {
  return {
    "/.well-known/openid-configuration": {
      issuer,
      jwks_uri: `${issuer}/keys`,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: keys.map(({ algorithm }) => algorithm),
    },
    "/keys": { keys: [...others, ...keys.map(({ publicJwk }) => publicJwk)] },
  };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
