import { type Caller, requireScopes } from "@signalbox/auth";
import { accountExample, exampleOf, examples, ServiceClientResource } from "@signalbox/contracts";
import { seconds } from "@signalbox/core";
import { conflict, type Edges, edgesOf, operation } from "@signalbox/service";
import { rotate, type Tx } from "@signalbox/storage";
import { z } from "zod";
import type { Account } from "../accounts/account.ts";
import { recordInAudit } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { queueNotice, shownAddress } from "../notices/notices.ts";
import { newCredential, requireNoLongerLife, requireWritable, rotationOf, statusOf } from "./credential.ts";
import {
  addAdministratorList,
  type CredentialForm,
  credentialOperations,
  heldCredential,
  ownCredential,
  secretAnswers,
  security,
} from "./credential-api.ts";
import type { Issued } from "./credentials.ts";
import {
  liveSecretsOf,
  previousSecretUntil,
  type ServiceClient,
  secretsOf,
  serviceClientEvents,
  serviceClientKind,
  serviceClientStore,
  withNewSecret,
  withPrevious,
} from "./service-client.ts";

type RotateSecretOutcome =
  | ({ outcome: "issued" } & Issued<ServiceClient>)
  | { outcome: "not-active" }
  | { outcome: "already-rotated"; previousUntil: Date | null };

/** The newest secret and the one before it. */
const secretsMax = 2;

/**
 * Gives a client a new secret. At most two are valid at once, so a secret in use does not end before the announced
 * time.
 */
async function rotateClientSecret(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
  client: ServiceClient,
  overlapSeconds: number,
): Promise<RotateSecretOutcome> {
  requireWritable(account);
  const now = service.clock.now();
  if (statusOf(client, now) !== "active") return { outcome: "not-active" };
  const rotation = rotate(secretsOf(client), { max: secretsMax, overlapMs: seconds(overlapSeconds), now });
  if (rotation.outcome !== "rotated") return { outcome: "already-rotated", previousUntil: client.previousUntil };
  requireScopes(caller, client.scopes);
  requireNoLongerLife(caller, client.expiresAt);
  const rotated = withNewSecret(client, rotation.older[0], now);
  await saveSecrets(service, tx, caller, rotated.credential, now);
  const notice = { kind: "client-secret-rotated", client: client.id, address: shownAddress(caller) } as const;
  await queueNotice(service, tx, account, notice);
  return { outcome: "issued", ...rotated };
}

/** Ends the overlap of a rotation now: from here on only the newest secret works. */
async function removePreviousClientSecret(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  client: ServiceClient,
): Promise<void> {
  const now = service.clock.now();
  if (liveSecretsOf(client, now).length <= 1) return;
  await saveSecrets(service, tx, caller, withPrevious(client), now);
}

async function saveSecrets(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  client: ServiceClient,
  now: Date,
): Promise<void> {
  await serviceClientStore.save(tx, client);
  const fields = ["client_secret"];
  await recordInAudit(service, tx, caller, { action: "client.rotate_secret", subject: client.id, fields });
  await service.outbox.append(tx, [serviceClientEvents.updated(client, fields, now)]);
}

const IssuedServiceClient = ServiceClientResource.extend({
  client_id: z.string().describe("The id under the name that OAuth libraries expect."),
  client_secret: z.string().describe("The secret, shown only once."),
})
  .meta({ id: "IssuedServiceClient" })
  .register(examples, {
    example: {
      ...exampleOf(ServiceClientResource),
      client_id: exampleOf(ServiceClientResource).id,
      client_secret: "sbx_client_0Signalbox0Example0Secret00000000",
    },
  });

const serviceClientForm: CredentialForm<ServiceClient> = {
  noun: "service client",
  word: "client",
  type: "ServiceClient",
  isEntity: false,
  folder: "clients",
  idParameter: "client_id",
  kind: serviceClientKind,
  input: newCredential("client", "A subset of the creator's scopes, without those that only roles and keys can have."),
  resource: ServiceClientResource,
  issuedResource: IssuedServiceClient,
  secretView: ({ credential, secret }) => ({ client_id: credential.id, client_secret: secret }),
  members: { one: "serviceClient", secret: "clientSecret" },
  tooMany: (max) =>
    conflict("clients", "too_many", `The account has ${max} service clients; revoke one that is not needed.`),
  texts: {
    issued:
      "The answer shows the secret once. With it the client gets access tokens at `/oauth/token` (`client_credentials`).",
    secretless: "without its secret",
    revoked: "Its tokens stop working everywhere within two seconds. Revoking it again changes nothing.",
  },
};

/** The service clients of an account, at both edges. */
export function serviceClientApi(service: AccountService): Edges {
  const { clock } = service;
  const { list, read, create, rename, revoke, revokeByAdministrator } = credentialOperations(
    service,
    serviceClientForm,
  );
  const declared = {
    serviceClients: list,
    serviceClient: read,
    createServiceClient: create,
    renameServiceClient: rename,
    rotateServiceClientSecret: rotation(service),
    deletePreviousServiceClientSecrets: endOfOverlap(service),
    revokeServiceClient: revoke,
    revokeAccountServiceClient: revokeByAdministrator,
  };
  const fields = {
    ServiceClient: {
      status: (client: ServiceClient) => statusOf(client, clock.now()),
      secrets: (client: ServiceClient) => liveSecretsOf(client, clock.now()),
      previousSecretExpiresAt: (client: ServiceClient) => previousSecretUntil(client, clock.now()),
    },
  };
  const exampleIds = { account_id: accountExample.id, client_id: exampleOf(ServiceClientResource).id };
  const edges = edgesOf(declared, { errors: "account", exampleIds, fields });
  addAdministratorList(service, edges.routes, "accountServiceClients", serviceClientForm);
  return edges;
}

function rotation(service: AccountService) {
  const { answerRotated, issuedGraph } = secretAnswers(service, serviceClientForm);
  return operation({
    summary: "Rotate the secret of a service client",
    description:
      "Requires every scope of the client, because the answer shows the secret, once. The old one keeps working for `overlap_seconds`; until then another rotation is 409, unless its `overlap_seconds` is 0, which ends every older secret at once.",
    auth: security,
    audit: "client.rotate_secret",
    input: rotationOf("secret"),
    of: heldCredential(service, serviceClientForm),
    change: (tx, { account, credential }, { caller, input }) =>
      rotateClientSecret(service, tx, caller, account, credential, input.overlap_seconds),
    refusals: {
      "not-active": conflict("status", "not_active", "The client is revoked or has expired."),
      "already-rotated": ({ previousUntil }) => {
        const until = previousUntil?.toISOString();
        const message = `The previous secret is valid until ${until}. Rotate after that, or with an overlap of 0 seconds, which ends every older secret at once.`;
        return conflict("overlap_seconds", "already_rotated", message);
      },
    },
    rest: {
      post: "/api/account/clients/:client_id/secret/rotate",
      responses: { 200: IssuedServiceClient, 422: "error" },
      idempotent: "sealed",
      answer: answerRotated,
    },
    graph: issuedGraph,
  });
}

function endOfOverlap(service: AccountService) {
  return operation({
    summary: "End the overlap of a rotation: only the newest secret works",
    description:
      "For an older secret that may have leaked or that no program uses any more. Changes nothing if there is none.",
    auth: security,
    audit: "client.rotate_secret",
    of: ownCredential(service, serviceClientForm),
    change: (tx, client, { caller }) => removePreviousClientSecret(service, tx, caller, client),
    rest: { delete: "/api/account/clients/:client_id/secret/previous", responses: { 204: "empty" }, idempotent: true },
    graph: {
      payload: { serviceClientId: (_, { params }) => params.client_id },
      type: "DeletePreviousServiceClientSecretsPayload",
      keysInInput: true,
      names: { client_id: "id" },
    },
  });
}
