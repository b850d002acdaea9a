import { field, mutation, type PageLimits, type Resolvers, type SubgraphContext } from "@signalbox/graphql";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import type { ChangeResults } from "./change-results.ts";
import type { ChangeApproval } from "./plan-changes.ts";
import type { PropertyCatalogue } from "./property-catalogue.ts";
import { answerOf, changeSetOf, dryRun, operators, ProposeChange, sentence, waitForMs } from "./property-fields.ts";
import type { Proposal, Proposals } from "./proposals.ts";

export interface ProposalFields {
  readonly proposals: Proposals;
  readonly approval: ChangeApproval;
  readonly results: ChangeResults;
  readonly catalogue: PropertyCatalogue;
  readonly pageLimits: PageLimits;
}

const id = z.string().max(100);
const ApproveChange = z.strictObject({ id, wait_for_ms: waitForMs, dry_run: dryRun });
const WithdrawChange = z.strictObject({ id, reason: sentence.nullable().default(null) });

/** The proposals of changes, and the decisions about them. */
export function proposalFields({ proposals, approval, results, catalogue }: ProposalFields): Resolvers {
  const shown = { ...operators, payload: "proposal" } as const;
  return {
    Query: {
      changeProposals: field({ scopes: ["config:admin"] }, async () =>
        (await proposals.list()).map((proposal) => viewProposal(proposal, catalogue)),
      ),
    },
    Mutation: {
      proposeChange: mutation({ ...shown, audit: "property.propose", input: ProposeChange }, (input, context) => {
        const wanted = changeSetOf(input);
        const refused = approval.expiryRefusals(wanted);
        return context.inTransaction(async (tx) => {
          await proposals.check(tx, wanted, refused);
          return input.dry_run ? null : viewProposal(await proposals.propose(tx, context.caller, wanted), catalogue);
        });
      }),
      approveChange: mutation(
        {
          ...operators,
          audit: ["property.approve", "property.set", "property.unset"],
          input: ApproveChange,
          payload: (decided: object | null) => decided ?? { proposal: null, results: [] },
        },
        async ({ id, wait_for_ms: waitMs, dry_run: isDryRun }, context) => {
          const { proposal, made } = await decide(proposals, context, id, async (tx, open) => {
            if (!isDryRun) return proposals.approve(tx, context.caller, open);
            await proposals.checkApproval(tx, context.caller, open);
            return { proposal: open, made: [] };
          });
          const { results: changeResults } = await answerOf(results, made, made, waitMs);
          return { proposal: viewProposal(proposal, catalogue), results: changeResults };
        },
      ),
      withdrawChange: mutation(
        { ...shown, audit: "property.withdraw", input: WithdrawChange },
        async ({ id, reason }, context) => {
          const withdrawn = await decide(proposals, context, id, (tx, open) =>
            proposals.withdraw(tx, context.caller, open, reason),
          );
          return viewProposal(withdrawn, catalogue);
        },
      ),
    },
  };
}

function decide<Result>(
  proposals: Proposals,
  context: SubgraphContext,
  id: string,
  change: (tx: Tx, proposal: Proposal) => Promise<Result>,
): Promise<Result> {
  return context.write({ missing: "There is no such proposal.", find: (tx) => proposals.lock(tx, id), change });
}

function viewProposal(proposal: Proposal, catalogue: PropertyCatalogue) {
  const changes = proposal.changes.map(({ name, set, value, expectedRevision }) => ({
    name,
    unset: !set,
    expectedRevision,
    ...catalogue.shown(name, value, set),
  }));
  return { ...proposal, changes, revision: proposal.revision === null ? null : String(proposal.revision) };
}
