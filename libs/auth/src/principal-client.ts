import { AppError, type Clock, KiB, seconds } from "@signalbox/core";
import { createInternalClient, type InternalAnswer, sendTwice } from "@signalbox/net";
import type { ShutdownHooks } from "@signalbox/runtime";
import { z } from "zod";
import type { PresentedCredential } from "./credential.ts";
import { internalTokenHeader } from "./internal-token.ts";
import type { PrincipalSource } from "./principal.ts";
import {
  AnnouncementsAnswer,
  announcementsPath,
  PrincipalAnswer,
  principalFromAnswer,
  principalsPath,
} from "./principal-protocol.ts";

interface Dependencies {
  /** URL of the account service's internal listener, with its path prefix if it has one. */
  readonly url: string;
  /** The internal token to send. */
  readonly token: string;
  readonly clock: Clock;
  readonly runner: ShutdownHooks;
  readonly deadlineMs?: number;
}

/** Time after a failure in which questions are answered `unavailable` at once, instead of queueing on a dead peer. */
const pauseMs = seconds(1);

/**
 * Resolves credentials at the account service. Throws AppError `unauthorized` when account refuses one, and
 * `unavailable` when account cannot be asked; `createAuthenticator` adds the cache and merges equal questions.
 */
export function createPrincipalClient(dependencies: Dependencies): PrincipalSource {
  const { url, token, clock, runner, deadlineMs = seconds(5) } = dependencies;
  const headers = { [internalTokenHeader]: token };
  const account = createInternalClient({ url, headers: () => headers, deadlineMs, responseBytesMax: 64 * KiB });
  runner.defer("principal client", () => account.close());
  let pausedUntilMs = Number.NEGATIVE_INFINITY;

  return {
    async resolve(credential) {
      const { status, body } = await ask(credential);
      if (status === 200) return principalFromAnswer(answerIn(body));
      if (status === 422) throw new AppError("unauthorized", messageIn(body));
      // Account is there, but lacks something itself: the keys of another issuer.
      if (status === 503) throw unavailable(undefined, toldIn(body));
      throw unavailable(new Error(`the account service answered with ${status}: ${messageIn(body)}`));
    },
    async hasUnannounced() {
      const { status, body } = await account.get(announcementsPath);
      const answer = AnnouncementsAnswer.safeParse(jsonIn(body));
      if (!answer.success) throw unavailable(new Error(`the account service answered with ${status}`));
      return answer.data.unannounced;
    },
  };

  async function ask({ kind, value }: PresentedCredential): Promise<InternalAnswer> {
    if (clock.steadyMs() < pausedUntilMs) throw unavailable();
    try {
      return await sendTwice(() => account.post(principalsPath, JSON.stringify({ kind, value })));
    } catch (error) {
      pausedUntilMs = clock.steadyMs() + pauseMs;
      throw unavailable(error);
    }
  }
}

/**
 * Parses an answer. An unreadable one comes from another version of account during a deployment: it is worth a retry.
 */
function answerIn(body: Buffer): PrincipalAnswer {
  const answer = PrincipalAnswer.safeParse(jsonIn(body));
  if (!answer.success) throw unavailable(answer.error);
  return answer.data;
}

const Refusal = z.object({ error: z.object({ message: z.string() }) });

const messageIn = (body: Buffer): string => toldIn(body) ?? "The credential is not valid.";

const toldIn = (body: Buffer): string | undefined => Refusal.safeParse(jsonIn(body)).data?.error.message;

function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return null;
  }
}

const unavailable = (cause?: unknown, message = "The account service cannot be reached.") =>
  new AppError("unavailable", message, { retryAfterSeconds: 2, cause });
