import { AppError } from "@signalbox/core";
import { ExportPage, exportPathOf, positionByCreation } from "@signalbox/http";
import type { InternalClient } from "@signalbox/net";
import type { ListRange, TimePosition } from "@signalbox/storage";

/** A list in an export document. */
export interface ExportSection {
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
export function ownSection<Row extends OwnRow>(
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
export function remoteSection(name: string, client: Pick<InternalClient, "get">): ExportSection {
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
