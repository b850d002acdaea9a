import type { AdministeredAccount } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { Id, Status, Time, toned } from "../../parts/inline.tsx";
import { PanelList } from "../../parts/listing.tsx";
import { OnePage, Pairs, Panel } from "../../parts/page.tsx";
import { api, dataOf, versioned } from "../../session/api.ts";
import { accountTones } from "./accounts-page.tsx";
import { administeredKey, ChangeStatus } from "./change-status.tsx";

const readAccount = (id: string) =>
  versioned(api.GET("/api/accounts/{account_id}", { params: { path: { account_id: id } } }));

/** One account as an administrator sees it: its state with the reason, what may follow, and its newest entries. */
export function AdministeredAccountPage() {
  const { id } = useParams({ from: "/accounts/$id" });
  const account = useQuery({
    queryKey: administeredKey(id),
    refetchOnWindowFocus: false,
    queryFn: () => readAccount(id),
  });
  return (
    <OnePage
      title="Account"
      actions={<Link to="/accounts">All accounts</Link>}
      query={account}
      what="account"
      path={`api/accounts/${id}`}
    >
      {(current) => (
        <>
          <Facts account={current.data} />
          <ChangeStatus current={current} read={() => readAccount(id)} />
          <Audit id={id} />
        </>
      )}
    </OnePage>
  );
}

function Facts({ account }: { readonly account: AdministeredAccount }) {
  const { id, status, status_reason, status_changed_at, status_changed_by, roles, contact_address } = account;
  const { external_id, created_at, recovery_requested_at, purged_at, metadata, scopes_max } = account;
  return (
    <Panel title={account.display_name || "Without a name"}>
      <Pairs
        items={[
          ["Status", toned(accountTones[status], status)],
          status_changed_at && [
            "Since",
            <span key="">
              <Time at={status_changed_at} />, by the {status_changed_by}
            </span>,
          ],
          ["Reason", status_reason ?? "–"],
          recovery_requested_at && ["Asks to come back", <Time key="" at={recovery_requested_at} />],
          purged_at && ["Erased", <Time key="" at={purged_at} />],
          ["Address", contact_address ?? "none is confirmed"],
          ["Roles", roles.join(", ") || "none"],
          ["Scopes", scopes_max?.join(", ") ?? "all that its roles bring"],
          ["External id", external_id ?? "–"],
          [
            "Texts",
            Object.entries(metadata)
              .map(([name, text]) => `${name}: ${text}`)
              .join(", ") || "–",
          ],
          ["Id", <Id key="" value={id} />],
          ["Created", <Time key="" at={created_at} />],
        ]}
      />
    </Panel>
  );
}

/** The newest entries of the audit of the account. */
const Audit = ({ id }: { readonly id: string }) => (
  <PanelList
    title="Newest entries of its audit"
    queryKey={["administered-audit", id]}
    options={{ refetchOnWindowFocus: false }}
    read={() => {
      const params = { path: { account_id: id }, query: { limit: 10 } };
      return dataOf(api.GET("/api/accounts/{account_id}/audit", { params }));
    }}
    empty="Nothing was recorded yet."
    columns={{
      Time: ({ created_at }) => <Time at={created_at} />,
      Action: ({ action }) => <code>{action}</code>,
      Outcome: ({ outcome }) => <Status tone={outcome === "done" ? "good" : "failed"}>{outcome}</Status>,
      Reason: ({ reason }) => reason ?? "–",
      By: ({ actor }) => actor.account_id ?? actor.kind,
    }}
  />
);
