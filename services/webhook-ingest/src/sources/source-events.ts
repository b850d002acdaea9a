import { draft } from "@signalbox/contracts";
import { type Source, viewSource } from "./source.ts";

/** A partner may send now. */
export const sourceCreated = (source: Source) => about("webhook_source.created", source, []);
/** A source was changed; `changed` names the fields, `secret` among them but never its value. */
export const sourceUpdated = (source: Source, changed: string[]) => about("webhook_source.updated", source, changed);
/** A source is gone. */
export const sourceDeleted = (source: Source) => about("webhook_source.deleted", source, []);

type SourceEvent = "webhook_source.created" | "webhook_source.updated" | "webhook_source.deleted";

function about<N extends SourceEvent>(name: N, source: Source, changed: string[]) {
  const data = { ...viewSource(source), changed } as Parameters<typeof draft<N>>[1]["data"];
  return draft(name, { subject: source.id, accountId: source.accountId, data });
}
