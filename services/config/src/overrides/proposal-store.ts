import {
  containing,
  type ListRange,
  newestFirst,
  type Queryable,
  rangeValues,
  sql,
  type Tx,
  table,
} from "@signalbox/storage";
import { columns } from "../generated/columns.ts";
import type { ChangeProposal } from "../generated/prisma/client.ts";
import type { WantedChange } from "./plan-changes.ts";

/** A set of changes that waits for a second operator. */
export type Proposal = Readonly<Omit<ChangeProposal, "changes" | "state">> & {
  readonly changes: readonly StoredChange[];
  readonly state: "open" | "approved" | "withdrawn";
};

interface StoredChange extends Omit<WantedChange, "expectedRevision"> {
  readonly expectedRevision: string;
  /** The override that held at the decision. Missing while it is open, and for decisions of earlier versions. */
  readonly before?: { readonly set: boolean; readonly value: unknown };
}

export interface ProposalFilter {
  readonly outcome?: "open" | "approved" | "rejected" | "withdrawn" | null;
  /** A part of the reason or of the name of a property. */
  readonly text?: string | null;
}

const proposals = table("change_proposals", columns.change_proposals);
const lockOne = sql("proposals.lock", `select ${proposals.columns} from change_proposals where id = $1 for update`);
const countAllOpen = sql(
  "proposals.count-open",
  "select count(*)::int as count from change_proposals where state = 'open'",
);
const listAll = sql(
  "proposals.list",
  `select ${proposals.columns} from change_proposals
   where ($1::text is null or case when state = 'withdrawn' and decided_by <> author then 'rejected' else state end = $1)
     and ($2::text is null or reason ilike $2
       or exists (select from jsonb_array_elements(changes) as change where change->>'name' ilike $2))
     and ${newestFirst(3)}`,
);
const findOne = sql("proposals.find", `select ${proposals.columns} from change_proposals where id = $1`);
const saveDecision = proposals.update("changes", "state", "decidedBy", "decidedAt", "decisionReason", "revision");

/** Lists proposals, newest first. A withdrawal by another operator than the author is a rejection. */
export async function listProposals(
  db: Queryable,
  { outcome, text }: ProposalFilter,
  range: ListRange,
): Promise<Proposal[]> {
  const values = [outcome ?? null, text ? containing(text) : null, ...rangeValues(range)];
  return (await db.query<Proposal>(listAll, values)).rows;
}

export const findProposal = async (db: Queryable, id: string): Promise<Proposal | null> =>
  (await db.query<Proposal>(findOne, [id])).rows[0] ?? null;

export const lockProposal = async (tx: Tx, id: string): Promise<Proposal | null> =>
  (await tx.query<Proposal>(lockOne, [id])).rows[0] ?? null;

export const countOpenProposals = async (tx: Tx): Promise<number> =>
  (await tx.query<{ count: number }>(countAllOpen)).rows[0]?.count ?? 0;

export const insertProposal = (tx: Tx, proposal: Proposal): Promise<void> => proposals.insert(tx, proposal);

/** Writes the decision about a proposal. */
export const decideProposal = async (tx: Tx, proposal: Proposal): Promise<void> =>
  void (await saveDecision(tx, proposal));
