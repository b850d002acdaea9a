import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createSigningKey, type SigningAlgorithm, type SigningKey } from "./signing-key.ts";
import { encodeToken, signHmac, type TokenClaims, type TokenHeader } from "./token.ts";

interface SignOptions {
  readonly expiresInSeconds?: number;
  readonly header?: TokenHeader;
}

export interface OidcIssuer {
  /** The `iss` of its tokens; discovery is found below it. */
  readonly issuer: string;
  readonly audience: string;
  /** A good access token: `iss`, `aud`, `sub`, `iat`, `exp` and `jti` are filled in where the claims leave them out. */
  sign(claims?: TokenClaims, options?: SignOptions): string;
  /** Signs with a new key from now on; the earlier ones stay published until `withdrawOldKeys`. */
  rotate(algorithm?: SigningAlgorithm): void;
  withdrawOldKeys(): void;
  /** Tokens that must be refused. */
  readonly wrong: {
    /** `alg: none` and an empty signature. */
    unsigned(claims?: TokenClaims): string;
    /** Signed by a key that is not published, under the id of one that is. */
    foreignKey(claims?: TokenClaims): string;
    /** HS256 with our public key (PEM) as the shared secret: the algorithm confusion of RFC 8725 §2.1. */
    confused(claims?: TokenClaims): string;
    expired(claims?: TokenClaims): string;
    /** A good token whose claims were changed after signing. */
    tampered(claims?: TokenClaims): string;
    truncated(claims?: TokenClaims): string;
  };
  /** Answers every request with this status; `null` serves again. */
  fail(status: number | null): void;
  /** Paths requested so far. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

/** A real OIDC issuer on 127.0.0.1 with discovery, a key set and keys that rotate. */
export async function createOidcIssuer({ audience = "signalbox" } = {}): Promise<OidcIssuer> {
  let keys: SigningKey[] = [createSigningKey("RS256")];
  let failure: number | null = null;
  const requests: string[] = [];
  const current = () => keys[0] as SigningKey;

  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    const document = failure === null ? documents()[request.url ?? ""] : undefined;
    response.writeHead(failure ?? (document ? 200 : 404), { "content-type": "application/json" });
    response.end(JSON.stringify(document ?? {}));
  });
  const issuer = await listen(server);

  const documents = (): Record<string, unknown> => ({
    "/.well-known/openid-configuration": {
      issuer,
      jwks_uri: `${issuer}/keys`,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: keys.map(({ algorithm }) => algorithm),
    },
    "/keys": { keys: keys.map(({ publicJwk }) => publicJwk) },
  });

  const complete = (claims: TokenClaims, expiresInSeconds = 300): TokenClaims => {
    const now = Math.floor(Date.now() / 1000);
    return {
      iss: issuer,
      aud: audience,
      sub: "user-1",
      iat: now,
      exp: now + expiresInSeconds,
      jti: crypto.randomUUID(),
      ...claims,
    };
  };
  const signWith = (key: SigningKey, claims: TokenClaims, header: TokenHeader = {}) =>
    encodeToken({ alg: key.algorithm, kid: key.id, typ: "at+jwt", ...header }, claims, key.sign);
  const sign: OidcIssuer["sign"] = (claims = {}, { expiresInSeconds, header } = {}) =>
    signWith(current(), complete(claims, expiresInSeconds), header);

  return {
    issuer,
    audience,
    sign,
    rotate: (algorithm = "RS256") => {
      keys = [createSigningKey(algorithm), ...keys];
    },
    withdrawOldKeys: () => {
      keys = [current()];
    },
    wrong: {
      unsigned: (claims = {}) => encodeToken({ alg: "none", typ: "at+jwt" }, complete(claims), () => Buffer.alloc(0)),
      foreignKey: (claims = {}) =>
        signWith({ ...createSigningKey(current().algorithm), id: current().id }, complete(claims)),
      confused: (claims = {}) =>
        encodeToken(
          { alg: "HS256", kid: current().id, typ: "at+jwt" },
          complete(claims),
          signHmac(current().publicPem),
        ),
      expired: (claims = {}) => sign(claims, { expiresInSeconds: -3_600 }),
      tampered: (claims = {}) => {
        const [header, , signature] = sign(claims).split(".");
        const changed = encodeToken({}, complete({ ...claims, sub: "somebody-else" }), () => Buffer.alloc(0)).split(
          ".",
        )[1];
        return [header, changed, signature].join(".");
      },
      truncated: (claims = {}) => sign(claims).slice(0, -20),
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

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
