import { Readable } from "node:stream";
import type { Caller } from "@signalbox/auth";
import { AppError } from "@signalbox/core";
import { ExportPage, exportPathOf, positionByCreation } from "@signalbox/http";
import type { InternalClient } from "@signalbox/net";
import { inTransaction, type ListRange, type TimePosition } from "@signalbox/storage";
import { viewAccount, viewSettings } from "../accounts/account.ts";
import { viewOwnAuditEntry } from "../audit/audit-api.ts";
import { actorOf, recordInAudit } from "../audit/audit-log.ts";
import { listAuditEntries } from "../audit/audit-store.ts";
import type { AccountService, OtherService } from "../context/account-service.ts";
import { apiKeyKind } from "../credentials/api-key.ts";
import { serviceClientKind } from "../credentials/service-client.ts";
import { identitiesOf, type LinkedIdentity } from "../identities/identity.ts";
import { queueNotice } from "../notices/notices.ts";
import { viewPasskey } from "../passkeys/passkey.ts";
import { listPasskeys } from "../passkeys/passkey-store.ts";
import { exportedSignIn } from "../sign-ins/sign-in.ts";
import { listLiveSignIns } from "../sign-ins/sign-in-store.ts";

/**
 * Starts one JSON document of everything that an account has, read while it is sent; null for a missing account. The
 * first page of every section is read before the first byte, so that an unreachable service is an error and not half a
 * document.
 */
export async function startExport(
  service: AccountService,
  caller: Caller,
  accountId: string,
): Promise<Readable | null> {
  const { accountStore, pool, clock } = service;
  const isOwn = accountId === caller.accountId;
  const account = await accountStore.find(accountId);
  if (!account) return null;
  const { remote, leftOut } = remoteSections(service);
  const sections = [...ownSections(service), ...remote];
  const started = await Promise.all(sections.map((section) => startSection(section, accountId)));
  await inTransaction(pool, async (tx) => {
    const by = actorOf(caller, isOwn ? "owner" : "administrator");
    await recordInAudit(service, tx, by, { action: "account.export", accountId });
    if (!isOwn) await queueNotice(service, tx, account, { kind: "account-exported" });
  });
  const head = {
    exported_at: clock.now().toISOString(),
    left_out: leftOut,
    account: viewAccount(account),
    settings: viewSettings(account),
  };
  return Readable.from(exportDocument(head, started), { objectMode: false });
}

async function startSection({ name, pages }: ExportSection, accountId: string): Promise<StartedSection> {
  const rest = pages(accountId);
  const { value: first, done } = await rest.next();
  return { name, first: done ? [] : first, rest };
}

/** The lists of this service, in document order. */
function ownSections(service: AccountService): readonly ExportSection[] {
  const { pool, clock } = service;
  return [
    {
      name: "identities",
      // One page: an account has few of them.
      async *pages(accountId) {
        yield (await identitiesOf(pool, accountId)).map(viewLogin);
      },
    },
    ownSection(
      "api_keys",
      (accountId, range) => apiKeyKind.store.list(pool, accountId, range),
      (key) => apiKeyKind.view(key, clock.now()),
    ),
    ownSection(
      "service_clients",
      (accountId, range) => serviceClientKind.store.list(pool, accountId, range),
      (client) => serviceClientKind.view(client, clock.now()),
    ),
    ownSection(
      "sign_ins",
      (accountId, range) => listLiveSignIns(pool, accountId, { now: clock.now() }, range),
      exportedSignIn,
    ),
    ownSection("passkeys", (accountId, range) => listPasskeys(pool, accountId, range), viewPasskey),
    ownSection("audit", (accountId, range) => listAuditEntries(service, { accountId }, range), viewOwnAuditEntry),
  ];
}

const viewLogin = ({ issuer, subject, createdAt }: LinkedIdentity) => ({
  issuer,
  subject,
  created_at: createdAt.toISOString(),
});

/** The lists of other services by document member. */
const heldElsewhere: readonly (readonly [name: string, OtherService])[] = [
  ["images", "images"],
  ["webhook_sources", "webhook-ingest"],
  ["webhook_endpoints", "webhook-delivery"],
];

/** The sections of the services with a configured address, and the names of those without one. */
function remoteSections({ otherServices }: AccountService) {
  const leftOut: string[] = [];
  const remote = heldElsewhere.flatMap(([name, holder]) => {
    const client = otherServices[holder];
    if (client === null) leftOut.push(name);
    return client === null ? [] : [remoteSection(name, client)];
  });
  return { remote, leftOut };
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
function remoteSection(name: string, client: InternalClient): ExportSection {
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
