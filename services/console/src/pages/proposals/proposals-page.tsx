import { Link } from "@tanstack/react-router";
import { Status, Time } from "../../parts/inline.tsx";
import { choice, useFilters } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import { ResourceList } from "../../parts/resource-list.tsx";
import { ProposalLink } from "../links.tsx";
import { Actor } from "../properties/property-history.tsx";
import { listQuery, type Outcome, outcomeOf, outcomes, type Proposal, readProposals } from "../properties/proposal.ts";

/** The changes of properties that one operator proposes and another one decides. */
export function ProposalsPage() {
  const [{ text, state }] = useFilters();
  const outcome = state as Outcome | undefined;
  return (
    <Page title="Proposals" actions={<Link to="/properties">Properties</Link>}>
      <p>
        Changes that need a second operator. They are proposed on the property's page; an operator other than the author
        approves or rejects them.
      </p>
      <ResourceList
        label="Proposals"
        noun="proposal"
        path="graphql/proposals"
        call={{ method: "POST", path: "graphql", body: { query: listQuery, variables: { text, outcome } } }}
        read={({ cursor: after, limit: first }) => readProposals({ text, outcome, first, after })}
        everyMs={10_000}
        filters={{ text: "Property or reason", state: choice("State", outcomes) }}
        empty="Nobody has proposed a change. The property config.approval says which changes need a second operator."
        columns={{
          Proposal: ({ id, changes }) => <ProposalLink id={id}>{titleOf(changes)}</ProposalLink>,
          State: (proposal) => <Status>{outcomeOf(proposal)}</Status>,
          Reason: ({ reason }) => reason ?? "–",
          By: ({ author }) => <Actor id={author} />,
          Proposed: ({ createdAt }) => <Time at={createdAt} />,
          Decided: ({ decidedAt }) => (decidedAt ? <Time at={decidedAt} /> : "–"),
        }}
      />
    </Page>
  );
}

/** Names the first property, and says how many others there are. */
const titleOf = ([first, ...others]: Proposal["changes"]): string =>
  `${first?.name ?? "no change"}${others.length > 0 ? ` and ${others.length} more` : ""}`;
