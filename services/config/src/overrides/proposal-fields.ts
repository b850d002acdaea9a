import { connectionField, field, mutation, type Resolvers, type SubgraphContext } from "@signalbox/graphql";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import type { ConfigService } from "../context/config-service.ts";
import { succeeded } from "./change-results.ts";
import { expiryRefusals } from "./plan-changes.ts";
import { answerOf, changeSetOf, dryRun, operators, ProposeChange, sentence, waitForMs } from "./property-fields.ts";
import { findProposal, listProposals, lockProposal, type Proposal, type ProposalFilter } from "./proposal-store.ts";
import { approveProposal, proposeChanges, withdrawProposal } from "./proposals.ts";

/** Length of the list that clients of earlier versions ask for, which has no pages. */
const listedMax = 200;

const id = z.string().max(100);
const ApproveChange = z.strictObject({ id, wait_for_ms: waitForMs, dry_run: dryRun });
const WithdrawChange = z.strictObject({ id, reason: sentence.nullable().default(null) });

/** The proposals of changes, and the decisions about them. */
export function proposalFields(service: ConfigService): Resolvers {
  const shown = { ...operators, payload: "proposal" } as const;
  return {
    Query: reads(service),
    Mutation: {
      proposeChange: mutation({ ...shown, audit: "property.propose", input: ProposeChange }, (input, context) => {
        const wanted = changeSetOf(input);
        const refused = expiryRefusals(service, wanted);
        return context.inTransaction(async (tx) => {
          const how = { refused, dryRun: input.dry_run };
          const made = await succeeded(proposeChanges(service, tx, context.caller, wanted, how));
          return made && viewProposal(service, made);
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
          const { proposal, made } = await decide(context, id, (tx, open) =>
            approveProposal(service, tx, context.caller, open, dryRun),
          );
          const { results: changeResults } = await answerOf(service, made, made, waitMs);
          return { proposal: viewProposal(service, proposal), results: changeResults };
        },
      ),
      withdrawChange: mutation(
        { ...shown, audit: "property.withdraw", input: WithdrawChange },
        async ({ id, reason }, context) => {
          const withdrawn = await decide(context, id, (tx, open) =>
            withdrawProposal(service, tx, context.caller, open, reason),
          );
          return viewProposal(service, withdrawn);
        },
      ),
    },
  };
}

const reads = (service: ConfigService) => ({
  proposals: connectionField<unknown, ProposalFilter, Proposal>(
    { scopes: ["config:admin"] },
    {
      limits: service.pageLimits,
      read: (range, _parent, _context, filter) => listProposals(service.pool, filter, range),
      node: (proposal) => viewProposal(service, proposal),
    },
  ),
  changeProposal: field<unknown, { readonly id: string }>({ scopes: ["config:admin"] }, async (_parent, { id }) => {
    const proposal = await findProposal(service.pool, id);
    return proposal && viewProposal(service, proposal);
  }),
  changeProposals: field({ scopes: ["config:admin"] }, async () => {
    const newest = await listProposals(service.pool, {}, { after: null, limit: listedMax });
    return newest.map((proposal) => viewProposal(service, proposal));
  }),
});

function decide<Result>(context: SubgraphContext, id: string, change: (tx: Tx, proposal: Proposal) => Promise<Result>) {
  return context.write({
    missing: "There is no such proposal.",
    find: (tx) => lockProposal(tx, id),
    change: (tx, proposal: Proposal) => succeeded(change(tx, proposal)),
  });
}

function viewProposal({ catalogue }: ConfigService, proposal: Proposal) {
  const changes = proposal.changes.map(({ name, set, value, expectedRevision, before }) => ({
    name,
    unset: !set,
    expectedRevision,
    ...catalogue.shown(name, value, set),
    before: before ? { set: before.set, ...catalogue.shown(name, before.value, before.set) } : null,
  }));
  return { ...proposal, changes, revision: proposal.revision === null ? null : String(proposal.revision) };
}
