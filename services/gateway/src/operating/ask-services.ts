import type { Caller } from "@signalbox/auth";
import type { UnavailableService } from "@signalbox/contracts";
import { AppError, type ErrorDetail, errorCodes, isAppError, type ServiceName, seconds } from "@signalbox/core";
import { clientAddressHeader, encodePrincipal, principalHeader } from "@signalbox/http";
import type { InternalAnswer, InternalClient } from "@signalbox/net";
import { z } from "zod";

/** The services with a database, and so with an internal listener and a subgraph, named as in the supergraph. */
export const askedServices = ["account", "images", "config", "webhook-ingest", "webhook-delivery"] as const;

export interface Asking {
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** The answers of the services, and those that did not answer. */
export interface Joined<Answer> {
  readonly answers: readonly Answer[];
  readonly unavailable: readonly z.output<typeof UnavailableService>[];
}

/** A service that takes longer is told as away: the others' answers must not wait for it until the client gives up. */
const waitMs = seconds(5);

const Refused = z.object({
  error: z.object({
    code: z.enum(errorCodes),
    message: z.string(),
    field: z.string().optional(),
    details: z.array(z.looseObject({ field: z.string(), code: z.string(), message: z.string() })).optional(),
  }),
});

export type AskServices = ReturnType<typeof createAskServices>;

/** Creates the calls to the internal listeners of the services, in the name of a caller. */
export function createAskServices(clients: ReadonlyMap<string, InternalClient>) {
  async function send(
    service: string,
    { caller, signal }: Asking,
    request: (client: InternalClient, headers: Record<string, string>, signal: AbortSignal) => Promise<InternalAnswer>,
  ): Promise<unknown> {
    const client = clients.get(service);
    if (!client) throw new Error(`there is no client of ${service}`);
    const { requestId, clientAddress, ...principal } = caller;
    const headers = {
      [principalHeader]: encodePrincipal(principal),
      "x-request-id": requestId,
      ...(clientAddress !== null && { [clientAddressHeader]: clientAddress }),
    };
    const { status, body } = await request(client, headers, AbortSignal.any([signal, AbortSignal.timeout(waitMs)]));
    const answer = parsed(body);
    if (status === 200) return answer;
    const refused = Refused.safeParse(answer);
    if (!refused.success) throw unavailable(new Error(`${service} answered ${status}`));
    const { code, message, field, details } = refused.data.error;
    throw new AppError(code, message, { field, details: details as readonly ErrorDetail[] | undefined });
  }

  const get = (service: string, path: string, asking: Asking): Promise<unknown> =>
    send(service, asking, (client, headers, signal) => client.get(path, headers, signal));

  return {
    get,

    /** Sends a change, with the state that the caller has seen. */
    post: (service: string, path: string, body: object, ifMatch: string | undefined, asking: Asking) =>
      send(service, asking, (client, headers, signal) => {
        const seen = ifMatch === undefined ? {} : { "if-match": ifMatch };
        return client.post(path, JSON.stringify(body), { ...headers, ...seen }, signal);
      }),

    /** Asks several services at once. One that is away is told, and the others' answers stand. */
    async getAll<Answer>(
      services: readonly ServiceName[],
      path: string,
      answer: z.ZodType<Answer>,
      asking: Asking,
    ): Promise<Joined<Answer>> {
      const asked = await Promise.all(
        services.map(async (service) => {
          try {
            return { answer: answer.parse(await get(service, path, asking)) };
          } catch (error) {
            asking.signal.throwIfAborted();
            return { unavailable: { service, message: messageOf(error) } };
          }
        }),
      );
      return {
        answers: asked.flatMap((one) => (one.answer === undefined ? [] : [one.answer])),
        unavailable: asked.flatMap((one) => one.unavailable ?? []),
      };
    },
  };
}

function messageOf(error: unknown): string {
  if (isAppError(error) && error.code !== "not_found") return error.message;
  return "It runs a version that does not support this.";
}

const unavailable = (cause: Error) =>
  new AppError("unavailable", "A service that this request needs does not respond.", { cause, retryAfterSeconds: 5 });

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}
