import type { AdministeredAccount } from "@signalbox/client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Answer } from "../../parts/answer.tsx";
import { Id, Status, Time, type Tone } from "../../parts/inline.tsx";
import { ChoiceFilter, Curl, Filters, Pager, TextFilter, useFilters } from "../../parts/lists.tsx";
import { Page, Table } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, versioned } from "../../session/api.ts";

const path = "api/accounts";

export const accountTones: Readonly<Record<AdministeredAccount["status"], Tone>> = {
  pending: "wait",
  active: "good",
  suspended: "failed",
  disabled: "off",
  deleted: "off",
};

/** All accounts, for administrators. Each look is an entry in the audit. */
export function AccountsPage() {
  const [search] = useFilters();
  const accounts = useQuery({
    queryKey: ["accounts", search],
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
    queryFn: async () =>
      (await versioned(api.GET(`/${path}`, { params: { query: { ...search, limit: 25 } as object } }))).data,
  });
  return (
    <Page title="Accounts">
      <Filters>
        <TextFilter name="search" label="Name, address or id" />
        <ChoiceFilter name="status" label="Status" choices={Object.keys(accountTones)} />
        <ChoiceFilter name="recovery_requested" label="Asks to come back" choices={["true", "false"]} />
      </Filters>
      <Answer
        query={accounts}
        what="accounts"
        isEmpty={({ items }) => items.length === 0}
        empty={<p>No account matches these filters.</p>}
      >
        {({ items, next_cursor: next }) => (
          <>
            <Table
              label="Accounts"
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: "Account",
                  cell: ({ id, display_name, contact_address }) => (
                    <>
                      <Link to="/accounts/$id" params={{ id }}>
                        {display_name || "without a name"}
                      </Link>
                      <div className={parts.quiet}>{contact_address ?? "no confirmed address"}</div>
                      <Id value={id} />
                    </>
                  ),
                },
                { name: "Status", cell: ({ status }) => <Status tone={accountTones[status]}>{status}</Status> },
                { name: "Roles", cell: ({ roles }) => roles.join(", ") || "none" },
                { name: "Reason", cell: ({ status_reason }) => status_reason ?? "–" },
                { name: "Made", cell: ({ created_at }) => <Time at={created_at} /> },
              ]}
            />
            <Pager next={next} />
          </>
        )}
      </Answer>
      <Curl path={path} query={search} />
    </Page>
  );
}
