import { queryOptions } from "@tanstack/react-query";
import { askGraph, type Connection, type Detail, payloadOf } from "../../session/graph.ts";
import { type ChangeResult, waitForMs } from "./property-change.ts";

/** A change of one property that waits for a second operator. */
export interface ProposedChange {
  readonly name: string;
  readonly value: unknown;
  readonly masked: boolean;
  readonly unset: boolean;
  /** The revision of the override that its author saw; "0" for none. */
  readonly expectedRevision: string;
  /** The override that held at the decision; null where none was kept. */
  readonly before: { readonly set: boolean; readonly value: unknown; readonly masked: boolean } | null;
}

/** Changes that one operator proposed, and the decision of another one. */
export interface Proposal {
  readonly id: string;
  readonly changes: readonly ProposedChange[];
  readonly reason: string | null;
  readonly author: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly state: "open" | "approved" | "withdrawn";
  readonly decidedBy: string | null;
  readonly decidedAt: string | null;
  readonly decisionReason: string | null;
  readonly revision: string | null;
}

const proposalFields = `id reason author createdAt expiresAt state decidedBy decidedAt decisionReason revision
  changes { name value masked unset expectedRevision before { set value masked } }`;

export const listQuery = `query($outcome: ProposalOutcome, $text: String, $first: Int, $after: String) {
  proposals(outcome: $outcome, text: $text, first: $first, after: $after) {
    pageInfo { hasNextPage endCursor } edges { node { ${proposalFields} } }
} }`;
const oneQuery = `query($id: ID!) { changeProposal(id: $id) { ${proposalFields} } }`;

/** The variables of a page of proposals. */
export interface ProposalSearch {
  readonly outcome?: Outcome | undefined;
  readonly text?: string | undefined;
  readonly first?: number;
  readonly after?: string | undefined;
}

/** Reads a page of the proposals, newest first. */
export async function readProposals(search: ProposalSearch) {
  const { pageInfo, edges } = (await askGraph<{ proposals: Connection<Proposal> }>(listQuery, search)).proposals;
  const next = pageInfo.hasNextPage ? pageInfo.endCursor : undefined;
  return { items: edges.map(({ node }) => node), next_cursor: next };
}

export const proposalQuery = (id: string) =>
  queryOptions({
    queryKey: ["proposals", "one", id],
    refetchInterval: 10_000,
    queryFn: async () => (await askGraph<{ changeProposal: Proposal | null }>(oneQuery, { id })).changeProposal,
  });

export const outcomes = ["open", "approved", "rejected", "withdrawn"] as const;
export type Outcome = (typeof outcomes)[number];

/** Returns the outcome in a word: a withdrawal by another operator than the author is a rejection. */
export const outcomeOf = ({ state, author, decidedBy }: Proposal): Outcome =>
  state === "withdrawn" && decidedBy !== author ? "rejected" : state;

const approveMutation = `mutation($input: ApproveChangeInput!) { approveChange(input: $input) {
  results { name value masked shadowedBy appliesAt instances applied } errors { field code message }
} }`;
const withdrawMutation = `mutation($input: WithdrawChangeInput!) { withdrawChange(input: $input) {
  proposal { state } errors { field code message }
} }`;

interface Approved {
  readonly results: readonly ChangeResult[];
  readonly errors: readonly Detail[];
}

/**
 * Makes the changes of another operator, or only asks whether that is allowed.
 * @throws ApiError 409 when it was decided, or one of the properties was changed since it was proposed
 */
export async function approveProposal(id: string, isDryRun: boolean): Promise<Approved> {
  const input = { id, dryRun: isDryRun, ...(!isDryRun && { waitForMs }) };
  return payloadOf((await askGraph<{ approveChange: Approved }>(approveMutation, { input })).approveChange);
}

/** Takes back a proposal, or rejects that of another operator. @throws ApiError 409 when it was decided */
export async function withdrawProposal(id: string, reason: string): Promise<void> {
  const input = { id, ...(reason !== "" && { reason }) };
  const { withdrawChange } = await askGraph<{ withdrawChange: { errors: readonly Detail[] } }>(withdrawMutation, {
    input,
  });
  payloadOf(withdrawChange);
}
