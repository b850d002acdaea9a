import type { AdministeredAccount } from "@signalbox/client";
import { Id, Status, Time, type Tone } from "../../parts/inline.tsx";
import { choice } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { ResourceList } from "../../parts/resource-list.tsx";
import { api, dataOf } from "../../session/api.ts";
import { AccountLink } from "../links.tsx";

export const accountTones: Readonly<Record<AdministeredAccount["status"], Tone>> = {
  pending: "wait",
  active: "good",
  suspended: "failed",
  disabled: "off",
  deleted: "off",
};

/** All accounts, for administrators. Each look is an entry in the audit. */
export const AccountsPage = () => (
  <Page title="Accounts">
    <ResourceList
      label="Accounts"
      noun="account"
      path="api/accounts"
      read={(query) => dataOf(api.GET("/api/accounts", { params: { query } }))}
      isAudited
      filters={{
        search: "Name, address or id",
        status: choice("Status", Object.keys(accountTones)),
        recovery_requested: choice("Asks to come back", ["true", "false"]),
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
        Status: ({ status }) => <Status tone={accountTones[status]}>{status}</Status>,
        Roles: ({ roles }) => roles.join(", ") || "none",
        Reason: ({ status_reason }) => status_reason ?? "–",
        Created: ({ created_at }) => <Time at={created_at} />,
      }}
    />
  </Page>
);
