import {
  connectionField,
  field,
  mutation,
  type PageLimits,
  type Resolvers,
  type SubgraphContext,
} from "@signalbox/graphql";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import { type ChangeResults, succeeded } from "./change-results.ts";
import type { ChangeApproval } from "./plan-changes.ts";
import type { PropertyCatalogue } from "./property-catalogue.ts";
import { answerOf, changeSetOf, dryRun, operators, ProposeChange, sentence, waitForMs } from "./property-fields.ts";
import type { Proposal, ProposalFilter, ProposalStore } from "./proposal-store.ts";
import type { Proposals } from "./proposals.ts";

export interface ProposalFields {
  readonly proposals: Proposals;
  readonly proposalStore: ProposalStore;
  readonly approval: ChangeApproval;
  readonly results: ChangeResults;
  readonly catalogue: PropertyCatalogue;
  readonly pageLimits: PageLimits;
}

/** Length of the list that clients of earlier versions ask for, which has no pages. */
const listedMax = 200;

const id = z.string().max(100);
const ApproveChange = z.strictObject({ id, wait_for_ms: waitForMs, dry_run: dryRun });
const WithdrawChange = z.strictObject({ id, reason: sentence.nullable().default(null) });

/** The proposals of changes, and the decisions about them. */
export function proposalFields(parts: ProposalFields): Resolvers {
  const { proposals, proposalStore, approval, results, catalogue } = parts;
  const shown = { ...operators, payload: "proposal" } as const;
  return {
    Query: reads(parts),
    Mutation: {
      proposeChange: mutation({ ...shown, audit: "property.propose", input: ProposeChange }, (input, context) => {
        const wanted = changeSetOf(input);
        const refused = approval.expiryRefusals(wanted);
        return context.inTransaction(async (tx) => {
          const how = { refused, dryRun: input.dry_run };
          const made = await succeeded(proposals.propose(tx, context.caller, wanted, how));
          return made && viewProposal(made, catalogue);
        });
      }),
      approveChange: mutation(
        {
          ...operators,
          audit: ["property.approve", "property.set", "property.unset"],
          input: ApproveChange,
          payload: (decided: object | null) => decided ?? { proposal: null, results: [] },
        },
        async ({ id, wait_for_ms: waitMs, dry_run: dryRun }, context) => {
          const { proposal, made } = await decide(proposalStore, context, id, (tx, open) =>
            proposals.approve(tx, context.caller, open, dryRun),
          );
          const { results: changeResults } = await answerOf(results, made, made, waitMs);
          return { proposal: viewProposal(proposal, catalogue), results: changeResults };
        },
      ),
      withdrawChange: mutation(
        { ...shown, audit: "property.withdraw", input: WithdrawChange },
        async ({ id, reason }, context) => {
          const withdrawn = await decide(proposalStore, context, id, (tx, open) =>
            proposals.withdraw(tx, context.caller, open, reason),
          );
          return viewProposal(withdrawn, catalogue);
        },
      ),
    },
  };
}

const reads = ({ proposalStore, catalogue, pageLimits }: ProposalFields) => ({
  proposals: connectionField<unknown, ProposalFilter, Proposal>(
    { scopes: ["config:admin"] },
    {
      limits: pageLimits,
      read: (range, _parent, _context, filter) => proposalStore.list(filter, range),
      node: (proposal) => viewProposal(proposal, catalogue),
    },
  ),
  changeProposal: field<unknown, { readonly id: string }>({ scopes: ["config:admin"] }, async (_parent, { id }) => {
    const proposal = await proposalStore.find(id);
    return proposal && viewProposal(proposal, catalogue);
  }),
  changeProposals: field({ scopes: ["config:admin"] }, async () => {
    const newest = await proposalStore.list({}, { after: null, limit: listedMax });
    return newest.map((proposal) => viewProposal(proposal, catalogue));
  }),
});

function decide<Result>(
  proposalStore: ProposalStore,
  context: SubgraphContext,
  id: string,
  change: (tx: Tx, proposal: Proposal) => Promise<Result>,
) {
  return context.write({
    missing: "There is no such proposal.",
    find: (tx) => proposalStore.lock(tx, id),
    change: (tx, proposal: Proposal) => succeeded(change(tx, proposal)),
  });
}

function viewProposal(proposal: Proposal, catalogue: PropertyCatalogue) {
  const changes = proposal.changes.map(({ name, set, value, expectedRevision, before }) => ({
    name,
    unset: !set,
    expectedRevision,
    ...catalogue.shown(name, value, set),
    before: before ? { set: before.set, ...catalogue.shown(name, before.value, before.set) } : null,
  }));
  return { ...proposal, changes, revision: proposal.revision === null ? null : String(proposal.revision) };
}
