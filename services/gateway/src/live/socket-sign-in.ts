import type { IncomingMessage } from "node:http";
import { type Authenticator, credentialFrom, type PresentedCredential, type Principal } from "@signalbox/auth";
import { AppError, isAppError } from "@signalbox/core";
import { addressBucket, type RateLimits } from "@signalbox/http";

interface Dependencies {
  readonly authenticator: Authenticator;
  readonly rateLimits: Pick<RateLimits, "failedSignIn" | "credential" | "anonymous">;
  /** Origins whose pages may send credentials in headers. */
  readonly ownOrigins: () => readonly string[];
}

/** A connection that is being opened. */
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

/** Who is at the other end of a socket: credentials come in its messages, or with the request that opened it. */
export function createSocketSignIn({ authenticator, rateLimits, ownOrigins }: Dependencies) {
  async function signIn(credential: PresentedCredential, address: string): Promise<SignedIn> {
    const principal = await authenticator.authenticate(credential).catch((error: unknown) => {
      if (!isAppError(error) || error.code !== "unauthorized") throw error;
      if (rateLimits.failedSignIn.take(addressBucket(address)).allowed) throw error;
      throw tooMany();
    });
    return { credential, principal };
  }

  /** A browser sends Basic credentials along by itself, for whichever page asks. Programs send no origin. */
  const isOurs = ({ headers: { origin } }: IncomingMessage) => origin === undefined || ownOrigins().includes(origin);

  return {
    /** Null for an anonymous caller. @throws AppError */
    async fromInit(params: Members | undefined, { request, address }: Opening): Promise<SignedIn | null> {
      const credential = credentialIn(params) ?? (isOurs(request) ? credentialFrom(request.headers) : null);
      return credential && signIn(credential, address);
    },
    /** Null for a ping that is no more than that. @throws AppError */
    async fromPing(payload: Members | undefined, address: string): Promise<SignedIn | null> {
      const credential = credentialIn(payload);
      return credential && signIn(credential, address);
    },
    /** Counts a message as a request is counted. @throws AppError `rate_limited` */
    count(principal: Principal | null, address: string): void {
      const { credential, anonymous } = rateLimits;
      const taken = principal ? credential.take(principal.credential.id) : anonymous.take(addressBucket(address));
      if (!taken.allowed) throw tooMany(taken.resetSeconds);
    },
  };
}

const tooMany = (retryAfterSeconds?: number) =>
  new AppError("rate_limited", "Too many requests. Try again later.", {
    ...(retryAfterSeconds && { retryAfterSeconds }),
  });

/** The members of `connection_init` are named as the headers are, in any case of letters. */
function credentialIn(params: Members | undefined): PresentedCredential | null {
  const named = Object.entries(params ?? {}).filter(([, value]) => typeof value === "string");
  const { authorization, "x-api-key": apiKey } = Object.fromEntries(
    named.map(([name, value]) => [name.toLowerCase(), value as string]),
  );
  return credentialFrom({
    ...(authorization !== undefined && { authorization }),
    ...(apiKey !== undefined && { "x-api-key": apiKey }),
  });
}
