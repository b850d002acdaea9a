import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Status, Time } from "../../parts/inline.tsx";
import { Listing } from "../../parts/listing.tsx";
import { ChoiceFilter, Curl, Filters, TextFilter, useFilters } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import { Actor } from "../properties/property-history.tsx";
import {
  listQuery,
  type Outcome,
  outcomeOf,
  outcomes,
  outcomeTones,
  type Proposal,
  proposalsQuery,
} from "../properties/proposal.ts";

/** The changes of properties that one operator proposes and another one decides. */
export function ProposalsPage() {
  const [search] = useFilters();
  const { text, state, cursor } = search;
  const variables = { text, outcome: state as Outcome | undefined, after: cursor };
  const proposals = useQuery({ ...proposalsQuery(variables), placeholderData: keepPreviousData });
  return (
    <Page title="Proposals" actions={<Link to="/properties">Properties</Link>}>
      <p>
        Changes that need a second operator. They are proposed on the page of the property; another operator than their
        author approves or rejects them.
      </p>
      <Filters>
        <TextFilter name="text" label="Property or reason" />
        <ChoiceFilter name="state" label="State" choices={outcomes} />
      </Filters>
      <Listing
        query={proposals}
        what="proposals"
        empty={
          Object.keys(search).length > 0
            ? "No proposal matches these filters."
            : "Nobody has proposed a change. The property config.approval says which changes need a second operator."
        }
        label="Proposals"
        columns={{
          Proposal: ({ id, changes }) => (
            <Link to="/proposals/$id" params={{ id }}>
              {titleOf(changes)}
            </Link>
          ),
          State: (proposal) => <Status tone={outcomeTones[outcomeOf(proposal)]}>{outcomeOf(proposal)}</Status>,
          Reason: ({ reason }) => reason ?? "–",
          By: ({ author }) => <Actor id={author} />,
          Proposed: ({ createdAt }) => <Time at={createdAt} />,
          Decided: ({ decidedAt }) => (decidedAt ? <Time at={decidedAt} /> : "–"),
        }}
      />
      <Curl method="POST" path="graphql" body={{ query: listQuery, variables }} />
    </Page>
  );
}

/** Names the first property, and says how many others there are. */
const titleOf = ([first, ...others]: Proposal["changes"]): string =>
  `${first?.name ?? "no change"}${others.length > 0 ? ` and ${others.length} more` : ""}`;
