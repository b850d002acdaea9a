import type { Clock } from "@signalbox/core";
import { created, createRoutes, type HttpResponse, ifMatch, ok, refused, statusOf } from "@signalbox/http";
import { actorOf } from "../audit/actor.ts";
import type { ChangeClient } from "./change-client.ts";
import { ClientSecretRotation, IssuedServiceClient, NewServiceClient } from "./client-body.ts";
import { type ClientRefusal, refusedMaking, refusedRotation } from "./client-refusals.ts";
import type { MakeClientVerb } from "./make-client.ts";
import { etagOfClient, type ServiceClient, viewServiceClient } from "./service-client.ts";

interface Dependencies {
  readonly makeClient: MakeClientVerb;
  readonly changeClient: Pick<ChangeClient, "rotateSecret">;
  readonly clock: Clock;
}

const basePath = "/api/account/clients/";
const auth = { scopes: ["account:security"], stepUp: true } as const;

/** The routes whose answer shows a secret, the only time anybody sees it. */
export function clientIssueRoutes({ makeClient, changeClient, clock }: Dependencies) {
  const routes = createRoutes({ errors: "account" });

  routes.post(basePath, {
    summary: "Make a service client",
    description:
      "The answer shows the secret once. With it the client gets access tokens at `/oauth/token` (`client_credentials`).",
    auth,
    body: NewServiceClient,
    responses: { 201: IssuedServiceClient, 404: "error", 409: "error", 422: "error" },
    idempotent: "sealed",
    async handle(input) {
      const { principal, body } = input;
      const answer = (client: ServiceClient, secret: string) => {
        const { shown, etag } = issued(client, secret);
        return created(basePath + client.id, shown, { etag });
      };
      const result = await makeClient({
        accountId: principal.accountId,
        grantable: principal.scopes,
        name: body.name,
        scopes: body.scopes,
        expiresAt: body.expires_at,
        by: actorOf(input),
        alongside: (tx, client, secret) => input.idempotency.complete(tx, answer(client, secret)),
      });
      return result.outcome === "made" ? answer(result.client, result.secret) : refusedWith(refusedMaking(result));
    },
  });

  routes.post(`${basePath}:client_id/secret/rotate`, {
    summary: "Give a service client another secret",
    description:
      "For whoever has every scope of the client: the answer shows the secret, once. The old one keeps working for `overlap_seconds`; until then another rotation is 409, unless its `overlap_seconds` is 0, which ends every older secret at once.",
    auth,
    body: ClientSecretRotation,
    responses: { 200: IssuedServiceClient, 404: "error", 409: "error", 422: "error" },
    idempotent: "sealed",
    async handle(input) {
      const answer = (client: ServiceClient, secret: string) => {
        const { shown, etag } = issued(client, secret);
        return ok(shown, { etag });
      };
      const result = await changeClient.rotateSecret({
        principal: input.principal,
        clientId: input.params.client_id,
        overlapSeconds: input.body.overlap_seconds,
        by: actorOf(input),
        expect: (client) => ifMatch(input, etagOfClient(client, clock.now())),
        alongside: (tx, client, secret) => input.idempotency.complete(tx, answer(client, secret)),
      });
      return result.outcome === "rotated" ? answer(result.client, result.secret) : refusedWith(refusedRotation(result));
    },
  });

  return routes;

  /** The validator is that of the client as GET shows it, for the change that comes next. */
  function issued(client: ServiceClient, secret: string) {
    const now = clock.now();
    const shown = { ...viewServiceClient(client, now), client_id: client.id, client_secret: secret };
    return { shown, etag: etagOfClient(client, now) };
  }
}

const refusedWith = ({ code, message, details }: ClientRefusal): HttpResponse =>
  refused(statusOf[code], code, { message, details });
