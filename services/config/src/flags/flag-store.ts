import type { FlagDefinition } from "@signalbox/contracts";
import { numberAt } from "@signalbox/http";
import { type ListRange, type Queryable, sql, type Tx, table } from "@signalbox/storage";
import { columns } from "../generated/columns.ts";
import type { FlagRevision, Flag as FlagRow } from "../generated/prisma/client.ts";
import { revisionHistory } from "../overrides/revision-history.ts";

export type Flag = Readonly<Omit<FlagRow, "definition">> & { readonly definition: FlagDefinition };

/** One change of a flag; a definition of null means that it was archived. */
export type FlagChange = Readonly<Omit<FlagRevision, "definition">> & { readonly definition: FlagDefinition | null };

const flags = table("flags", columns.flags);
const revisions = table("flag_revisions", columns.flag_revisions);

const listAll = sql("flags.list", `select ${flags.columns} from flags order by key`);
const remove = sql("flags.remove", "delete from flags where key = $1");
const history = sql(
  "flags.list-history",
  `select ${revisions.columns} from flag_revisions
   where key = $1 and ($2::bigint is null or revision < $2) order by revision desc limit $3`,
);

export const flagRevisions = revisionHistory<FlagChange>({
  kind: "flags",
  active: "flags",
  name: "flag_revisions",
  key: "key",
  columns: revisions.columns,
});

export const listFlags = async (db: Queryable): Promise<Flag[]> => (await db.query<Flag>(listAll)).rows;

/** Activates a change and records it in the history. */
export async function saveFlag(tx: Tx, change: FlagChange): Promise<void> {
  await tx.query(remove, [change.key]);
  if (change.definition !== null) await flags.insert(tx, change);
  await revisions.insert(tx, change);
}

/** Lists the changes of a flag, newest first; an archived one has a history too. */
export const listFlagHistory = async (db: Queryable, key: string, { after, limit }: ListRange): Promise<FlagChange[]> =>
  (await db.query<FlagChange>(history, [key, numberAt(after), limit])).rows;
