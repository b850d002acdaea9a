import { Id, Status, Time } from "../../parts/inline.tsx";
import { choice } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { ResourceList } from "../../parts/resource-list.tsx";
import { api } from "../../session/api.ts";
import { AccountLink } from "../links.tsx";

/** All accounts, for administrators. Each look is an entry in the audit. */
export const AccountsPage = () => (
  <Page title="Accounts">
    <ResourceList
      label="Accounts"
      noun="account"
      path="api/accounts"
      read={(query) => api.accounts.list(query)}
      isAudited
      filters={{
        search: "Name, address or id",
        status: choice("Status", ["pending", "active", "suspended", "disabled", "deleted"]),
        recovery_requested: choice("Reactivation requested", ["true", "false"]),
      }}
      empty="There is no account yet."
      columns={{
        Account: ({ id, display_name, contact_address }) => (
          <>
            <AccountLink id={id}>{display_name || "without a name"}</AccountLink>
            <div className={parts.quiet}>{contact_address ?? "no confirmed address"}</div>
            <Id value={id} />
          </>
        ),
        Status: ({ status }) => <Status>{status}</Status>,
        Roles: ({ roles }) => roles.join(", ") || "none",
        Reason: ({ status_reason }) => status_reason ?? "–",
        Created: ({ created_at }) => <Time at={created_at} />,
      }}
    />
  </Page>
);
