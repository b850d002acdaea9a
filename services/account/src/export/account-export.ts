import { Readable } from "node:stream";
import { type Caller, internalTokenHeader } from "@signalbox/auth";
import { type Clock, MiB, seconds } from "@signalbox/core";
import { createInternalClient } from "@signalbox/net";
import type { ServiceContext } from "@signalbox/runtime";
import { inTransaction } from "@signalbox/storage";
import { viewAccount, viewSettings } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import { viewOwnAuditEntry } from "../audit/audit-entry.ts";
import type { AuditStore } from "../audit/audit-store.ts";
import { type ApiKey, viewApiKey } from "../credentials/api-key.ts";
import type { CredentialStore } from "../credentials/credential-store.ts";
import { type ServiceClient, viewServiceClient } from "../credentials/service-client.ts";
import type { LinkedIdentity } from "../identities/identity.ts";
import type { IdentityStore } from "../identities/identity-store.ts";
import type { Properties } from "../properties.ts";
import type { Shared } from "../shared.ts";
import { exportedSignIn } from "../sign-ins/sign-in.ts";
import type { SignInStore } from "../sign-ins/sign-in-store.ts";
import { exportDocument, type StartedSection } from "./export-document.ts";
import { type ExportSection, ownSection, remoteSection } from "./export-sections.ts";

interface ExportDependencies extends OwnLists, Pick<Shared, "pool" | "audit" | "clock"> {
  readonly accounts: Pick<AccountStore, "find">;
  /** The lists of other services. */
  readonly remoteSections: RemoteSections;
}

interface RemoteSections {
  readonly sections: readonly ExportSection[];
  /** Names of the sections whose service has no configured address. */
  readonly leftOut: readonly string[];
}

export type AccountExport = ReturnType<typeof createAccountExport>;

/** The export of everything that an account has. */
export function createAccountExport(dependencies: ExportDependencies) {
  const { pool, accounts, audit, clock, remoteSections } = dependencies;
  const sections = [...ownSections(dependencies), ...remoteSections.sections];

  return {
    /**
     * Starts one JSON document of all data, read while it is sent; null for a missing account. The first page of every
     * section is read before the first byte, so that an unreachable service is an error and not half a document.
     */
    async start(caller: Caller): Promise<Readable | null> {
      const { accountId } = caller;
      const account = await accounts.find(accountId);
      if (!account) return null;
      const started = await Promise.all(sections.map((section) => startSection(section, accountId)));
      await inTransaction(pool, (tx) => audit.record(tx, caller, { action: "account.export" }));
      const head = {
        exported_at: clock.now().toISOString(),
        left_out: remoteSections.leftOut,
        account: viewAccount(account),
        settings: viewSettings(account),
      };
      return Readable.from(exportDocument(head, started), { objectMode: false });
    },
  };
}

async function startSection({ name, pages }: ExportSection, accountId: string): Promise<StartedSection> {
  const rest = pages(accountId);
  const { value: first, done } = await rest.next();
  return { name, first: done ? [] : first, rest };
}

interface OwnLists {
  readonly identities: Pick<IdentityStore, "list">;
  readonly keys: Pick<CredentialStore<ApiKey>, "list">;
  readonly clients: Pick<CredentialStore<ServiceClient>, "list">;
  readonly signInStore: Pick<SignInStore, "list">;
  readonly auditStore: Pick<AuditStore, "list">;
  readonly clock: Clock;
}

/** The lists of this service, in document order. */
function ownSections({
  identities,
  keys,
  clients,
  signInStore,
  auditStore,
  clock,
}: OwnLists): readonly ExportSection[] {
  return [
    {
      name: "identities",
      // One page: an account has few of them.
      async *pages(accountId) {
        yield (await identities.list(accountId)).map(viewLogin);
      },
    },
    ownSection("api_keys", keys.list, (key) => viewApiKey(key, clock.now())),
    ownSection("service_clients", clients.list, (client) => viewServiceClient(client, clock.now())),
    ownSection(
      "sign_ins",
      (accountId, range) => signInStore.list(accountId, { now: clock.now() }, range),
      exportedSignIn,
    ),
    ownSection("audit", (accountId, range) => auditStore.list({ accountId }, range), viewOwnAuditEntry),
  ];
}

const viewLogin = ({ issuer, subject, createdAt }: LinkedIdentity) => ({
  issuer,
  subject,
  created_at: createdAt.toISOString(),
});

/** The lists of other services by document member, each with the property of its address. */
const heldElsewhere = [
  ["images", "images.internal-url"],
  ["webhook_sources", "webhook-ingest.internal-url"],
  ["webhook_endpoints", "webhook-delivery.internal-url"],
] as const;

/** Opens a client for each service with a configured address. */
export function openRemoteSections({
  configuration,
  runner,
}: Pick<ServiceContext<Properties>, "configuration" | "runner">): RemoteSections {
  const leftOut: string[] = [];
  const sections = heldElsewhere.flatMap(([name, property]) => {
    const url = configuration.get(property);
    if (url === null) {
      leftOut.push(name);
      return [];
    }
    const headers = () => ({ [internalTokenHeader]: configuration.get("internal.token")[0] ?? "" });
    const client = createInternalClient({ url, headers, deadlineMs: seconds(10), responseBytesMax: 16 * MiB });
    runner.defer(`${name} client`, () => client.close());
    return [remoteSection(name, client)];
  });
  return { sections, leftOut };
}
