import { AppError } from "@signalbox/core";
import { ExportPage, exportPathOf } from "@signalbox/http";
import type { InternalClient } from "@signalbox/net";
import type { ExportSection } from "./export-section.ts";

/** A section that another service holds, asked for over its internal listener. */
export function remoteSection(name: string, client: Pick<InternalClient, "get">): ExportSection {
  return {
    name,
    async *pages(accountId) {
      for (let cursor: string | undefined; ; ) {
        const { items, next_cursor } = pageFrom(await client.get(exportPathOf(accountId, cursor)));
        yield items;
        if (next_cursor === undefined) return;
        cursor = next_cursor;
      }
    },
  };

  function pageFrom({ status, body }: { readonly status: number; readonly body: Buffer }) {
    const page = status === 200 ? ExportPage.safeParse(jsonIn(body)) : null;
    // Half a list that looks whole would be worse than none.
    if (page?.success && page.data.has_more === (page.data.next_cursor !== undefined)) return page.data;
    throw new AppError("unavailable", "A service that this export needs does not answer.", {
      retryAfterSeconds: 2,
      cause: new Error(`the service that holds ${name} answered ${status}`),
    });
  }
}

function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return null;
  }
}
