import { Readable } from "node:stream";
import { type Caller, internalTokenHeader } from "@signalbox/auth";
import { AppError, type Clock, MiB, seconds } from "@signalbox/core";
import { ExportPage, exportPathOf, positionByCreation } from "@signalbox/http";
import { createInternalClient, type InternalClient } from "@signalbox/net";
import type { ServiceContext } from "@signalbox/runtime";
import { inTransaction, type ListRange, type Pool, type TimePosition } from "@signalbox/storage";
import { viewAccount, viewSettings } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import { viewOwnAuditEntry } from "../audit/audit-entry.ts";
import type { Audit } from "../audit/audit-log.ts";
import type { AuditStore } from "../audit/audit-store.ts";
import { type ApiKey, viewApiKey } from "../credentials/api-key.ts";
import type { CredentialStore } from "../credentials/credential-store.ts";
import { type ServiceClient, viewServiceClient } from "../credentials/service-client.ts";
import type { Identities } from "../identities/identities.ts";
import type { LinkedIdentity } from "../identities/identity.ts";
import { viewPasskey } from "../passkeys/passkey.ts";
import type { PasskeyStore } from "../passkeys/passkey-store.ts";
import type { Properties } from "../properties.ts";
import { exportedSignIn } from "../sign-ins/sign-in.ts";
import type { SignInStore } from "../sign-ins/sign-in-store.ts";

interface ExportDependencies {
  readonly pool: Pool;
  readonly accountStore: Pick<AccountStore, "find">;
  readonly audit: Pick<Audit, "record">;
  readonly clock: Clock;
  /** The lists of this service, in document order. */
  readonly ownSections: readonly ExportSection[];
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
  const { pool, accountStore, audit, clock, ownSections, remoteSections } = dependencies;
  const sections = [...ownSections, ...remoteSections.sections];

  return {
    /**
     * Starts one JSON document of all data, read while it is sent; null for a missing account. The first page of every
     * section is read before the first byte, so that an unreachable service is an error and not half a document.
     */
    async start(caller: Caller): Promise<Readable | null> {
      const { accountId } = caller;
      const account = await accountStore.find(accountId);
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
  readonly identities: Pick<Identities, "list">;
  readonly apiKeyStore: Pick<CredentialStore<ApiKey>, "list">;
  readonly serviceClientStore: Pick<CredentialStore<ServiceClient>, "list">;
  readonly signInStore: Pick<SignInStore, "list">;
  readonly passkeyStore: Pick<PasskeyStore, "list">;
  readonly auditStore: Pick<AuditStore, "list">;
  readonly clock: Clock;
}

/** The lists of this service, in document order. */
export function ownSectionsOf({
  identities,
  apiKeyStore,
  serviceClientStore,
  signInStore,
  passkeyStore,
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
    ownSection("api_keys", apiKeyStore.list, (key) => viewApiKey(key, clock.now())),
    ownSection("service_clients", serviceClientStore.list, (client) => viewServiceClient(client, clock.now())),
    ownSection(
      "sign_ins",
      (accountId, range) => signInStore.list(accountId, { now: clock.now() }, range),
      exportedSignIn,
    ),
    ownSection("passkeys", passkeyStore.list, viewPasskey),
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

/** A section whose first page was read. */
interface StartedSection {
  readonly name: string;
  readonly first: readonly unknown[];
  readonly rest: AsyncIterable<readonly unknown[]>;
}

/**
 * Writes the text of an export, page by page. `complete` comes last: a truncated document lacks it, wherever it was
 * cut, and is not valid JSON either.
 */
async function* exportDocument(
  head: Readonly<Record<string, unknown>>,
  sections: readonly StartedSection[],
): AsyncGenerator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},`;
  for (const { name, first, rest } of sections) {
    yield `${JSON.stringify(name)}:[${textOf(first)}`;
    let isEmpty = first.length === 0;
    for await (const items of rest) {
      if (items.length === 0) continue;
      yield `${isEmpty ? "" : ","}${textOf(items)}`;
      isEmpty = false;
    }
    yield "],";
  }
  yield '"complete":true}';
}

const textOf = (items: readonly unknown[]): string => JSON.stringify(items).slice(1, -1);

/** A list in an export document. */
interface ExportSection {
  /** The member of the document. */
  readonly name: string;
  /** Reads the items of an account page by page, each while the previous one is sent. */
  readonly pages: (accountId: string) => AsyncGenerator<readonly unknown[]>;
}

interface OwnRow {
  readonly createdAt: Date;
  readonly id: string;
}

const pageSize = 100;

/** A section that this service stores itself. */
function ownSection<Row extends OwnRow>(
  name: string,
  list: (accountId: string, range: ListRange) => Promise<readonly Row[]>,
  view: (row: Row) => unknown,
): ExportSection {
  return {
    name,
    async *pages(accountId) {
      for (let after: TimePosition | null = null; ; ) {
        const rows: readonly Row[] = await list(accountId, { after, limit: pageSize });
        yield rows.map(view);
        const last = rows.at(-1);
        if (last === undefined || rows.length < pageSize) return;
        after = positionByCreation(last);
      }
    },
  };
}

/** A section that another service stores, read over its internal listener. */
function remoteSection(name: string, client: Pick<InternalClient, "get">): ExportSection {
  return {
    name,
    async *pages(accountId) {
      for (let cursor: string | undefined; ; ) {
        const { items, next_cursor } = pageFrom(name, await client.get(exportPathOf(accountId, cursor)));
        yield items;
        if (next_cursor === undefined) return;
        cursor = next_cursor;
      }
    },
  };
}

function pageFrom(name: string, { status, body }: { readonly status: number; readonly body: Buffer }) {
  const page = status === 200 ? ExportPage.safeParse(jsonIn(body)) : null;
  // Half a list that looks complete would be worse than none.
  if (page?.success && page.data.has_more === (page.data.next_cursor !== undefined)) return page.data;
  throw new AppError("unavailable", "A service that this export needs does not answer.", {
    retryAfterSeconds: 2,
    cause: new Error(`the service that holds ${name} answered ${status}`),
  });
}

function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return null;
  }
}
