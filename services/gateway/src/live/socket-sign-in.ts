import type { IncomingMessage } from "node:http";
import { type Authenticator, credentialFrom, type PresentedCredential, type Principal } from "@signalbox/auth";
import { AppError, isAppError } from "@signalbox/core";
import { addressBucket, type RateLimits } from "@signalbox/http";

interface Dependencies {
  readonly authenticator: Authenticator;
  readonly rateLimits: RateLimits;
  /** Origins whose pages may send credentials in headers. */
  readonly ownOrigins: () => readonly string[];
}

interface Opening {
  readonly request: IncomingMessage;
  readonly address: string;
}

interface SignedIn {
  readonly credential: PresentedCredential;
  readonly principal: Principal;
}

export type SocketSignIn = ReturnType<typeof createSocketSignIn>;

type Members = Readonly<Record<string, unknown>>;

/** Authenticates the client of a socket: credentials are in its messages, or in the request that opened it. */
export function createSocketSignIn({ authenticator, rateLimits, ownOrigins }: Dependencies) {
  async function signIn(credential: PresentedCredential, address: string): Promise<SignedIn> {
    const principal = await authenticator.authenticate(credential).catch((error: unknown) => {
      if (!isAppError(error) || error.code !== "unauthorized") throw error;
      if (rateLimits.failedSignIn.take(addressBucket(address)).allowed) throw error;
      throw tooMany();
    });
    return { credential, principal };
  }

  /** Browsers send Basic credentials by themselves, for pages of any origin. Programs send no origin. */
  const isOurs = ({ headers: { origin } }: IncomingMessage) => origin === undefined || ownOrigins().includes(origin);

  return {
    /** Returns null for an anonymous caller. @throws AppError */
    async fromInit(params: Members | undefined, { request, address }: Opening): Promise<SignedIn | null> {
      const credential = credentialIn(params) ?? (isOurs(request) ? credentialFrom(request.headers) : null);
      return credential && signIn(credential, address);
    },
    /** Returns null for a ping without a credential. @throws AppError */
    async fromPing(payload: Members | undefined, address: string): Promise<SignedIn | null> {
      const credential = credentialIn(payload);
      return credential && signIn(credential, address);
    },
    /** Counts a message like a request. @throws AppError `rate_limited` */
    count(principal: Principal | null, address: string): void {
      const { credential, anonymous } = rateLimits;
      const taken = principal ? credential.take(principal.credential.id) : anonymous.take(addressBucket(address));
      if (!taken.allowed) throw tooMany(taken.resetSeconds);
    },
  };
}

const tooMany = (retryAfterSeconds?: number) =>
  new AppError("rate_limited", "Too many requests. Try again later.", {
    retryAfterSeconds: retryAfterSeconds || undefined,
  });

/** Reads the credential of `connection_init`, whose members are named like the headers, case-insensitively. */
function credentialIn(params: Members | undefined): PresentedCredential | null {
  const named = Object.entries(params ?? {}).filter(([, value]) => typeof value === "string");
  const { authorization, "x-api-key": apiKey } = Object.fromEntries(
    named.map(([name, value]) => [name.toLowerCase(), value as string]),
  );
  return credentialFrom({ authorization, "x-api-key": apiKey });
}
