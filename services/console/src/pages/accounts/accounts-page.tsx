import type { AdministeredAccount } from "@signalbox/client";
import { Link } from "@tanstack/react-router";
import { Id, Status, Time, type Tone } from "../../parts/inline.tsx";
import { Listing, useList } from "../../parts/listing.tsx";
import { ChoiceFilter, Curl, Filters, TextFilter, useFilters } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, dataOf } from "../../session/api.ts";

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
  const accounts = useList(
    ["accounts", search],
    () => dataOf(api.GET(`/${path}`, { params: { query: { ...search, limit: 25 } as object } })),
    { refetchOnWindowFocus: false },
  );
  return (
    <Page title="Accounts">
      <Filters>
        <TextFilter name="search" label="Name, address or id" />
        <ChoiceFilter name="status" label="Status" choices={Object.keys(accountTones)} />
        <ChoiceFilter name="recovery_requested" label="Asks to come back" choices={["true", "false"]} />
      </Filters>
      <Listing
        query={accounts}
        what="accounts"
        empty="No account matches these filters."
        label="Accounts"
        columns={{
          Account: ({ id, display_name, contact_address }) => (
            <>
              <Link to="/accounts/$id" params={{ id }}>
                {display_name || "without a name"}
              </Link>
              <div className={parts.quiet}>{contact_address ?? "no confirmed address"}</div>
              <Id value={id} />
            </>
          ),
          Status: ({ status }) => <Status tone={accountTones[status]}>{status}</Status>,
          Roles: ({ roles }) => roles.join(", ") || "none",
          Reason: ({ status_reason }) => status_reason ?? "–",
          Made: ({ created_at }) => <Time at={created_at} />,
        }}
      />
      <Curl path={path} query={search} />
    </Page>
  );
}
