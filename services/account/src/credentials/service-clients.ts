import { type Caller, requireScopes } from "@signalbox/auth";
import { seconds } from "@signalbox/core";
import { rotate, type Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { shownAddress } from "../mail/notices.ts";
import { requireNoLongerLife, requireWritable, statusOf } from "./credential.ts";
import { type CreateOutcome, type CredentialDependencies, createCredentials, type Issued } from "./credentials.ts";
import {
  makeServiceClient,
  type ServiceClient,
  type ServiceClientStore,
  secretsOf,
  serviceClientEvents,
  withNewSecret,
} from "./service-client.ts";

export type RotateSecretOutcome =
  | ({ outcome: "issued" } & Issued<ServiceClient>)
  | { outcome: "not-active" }
  | { outcome: "already-rotated"; previousUntil: Date | null };

interface Dependencies extends CredentialDependencies {
  readonly clients: ServiceClientStore;
  readonly clientsMax: () => number;
  /** True when the built-in issuer runs; only it issues tokens to clients. */
  readonly hasIssuer: boolean;
}

/** The newest secret and the one before it. */
const secretsMax = 2;

/** The service clients of an account: programs that get tokens from the built-in issuer and act for the account. */
export function createServiceClients({ clients, clientsMax, hasIssuer, ...dependencies }: Dependencies) {
  const { outbox, audit, clock } = dependencies;
  const shared = createCredentials<ServiceClient>(
    {
      audited: "client",
      access: "client",
      store: clients,
      max: clientsMax,
      mayBePrivileged: false,
      make: makeServiceClient,
      notice: ({ id: client }, address) => ({ kind: "client-created", client, address }),
      ...serviceClientEvents,
    },
    dependencies,
  );

  return {
    ...shared,

    /** Creates a client, if this deployment can issue tokens to it. */
    async create(...given: Parameters<typeof shared.create>): Promise<CreateOutcome<ServiceClient>> {
      return hasIssuer ? shared.create(...given) : { outcome: "no-issuer" };
    },

    /**
     * Gives a client a new secret. At most two are valid at once, so a secret in use does not end before the announced
     * time.
     */
    async rotate(
      tx: Tx,
      caller: Caller,
      account: Account,
      client: ServiceClient,
      overlapSeconds: number,
    ): Promise<RotateSecretOutcome> {
      requireWritable(account);
      const now = clock.now();
      if (statusOf(client, now) !== "active") return { outcome: "not-active" };
      const rotation = rotate(secretsOf(client), { max: secretsMax, overlapMs: seconds(overlapSeconds), now });
      if (rotation.outcome !== "rotated") return { outcome: "already-rotated", previousUntil: client.previousUntil };
      requireScopes(caller, client.scopes);
      requireNoLongerLife(caller, client.expiresAt);
      const rotated = withNewSecret(client, rotation.older[0]);
      await clients.save(tx, rotated.credential);
      const fields = ["client_secret"];
      await audit.record(tx, caller, { action: "client.rotate_secret", subject: client.id, fields });
      await outbox.append(tx, [serviceClientEvents.updated(rotated.credential, fields, now)]);
      const notice = { kind: "client-secret-rotated", client: client.id, address: shownAddress(caller) } as const;
      await dependencies.notices.queue(tx, account, notice);
      return { outcome: "issued", ...rotated };
    },
  };
}

export type ServiceClients = ReturnType<typeof createServiceClients>;
