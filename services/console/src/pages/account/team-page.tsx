import type { Membership } from "@signalbox/client";
import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Action } from "../../parts/dialog.tsx";
import { Id, Time } from "../../parts/inline.tsx";
import { PanelList } from "../../parts/listing.tsx";
import { Curl, useFilters } from "../../parts/lists.tsx";
import parts from "../../parts/parts.module.css";
import { ShownOnce } from "../../parts/secret.tsx";
import { actFor } from "../../session/acting-account.ts";
import { api, dataOf, useCredential, useMay } from "../../session/api.ts";
import { AccountFrame } from "./account-frame.tsx";
import { InvitationActions } from "./invitations-page.tsx";
import { NewMember } from "./new-member.tsx";

/** An account has 200 members at most, a person few accounts. */
const query = { limit: 100 } as const;
const roles = ["viewer", "developer", "owner"] as const;

/** The people of the account, who is invited into it, and the other accounts of the person. */
export function TeamPage() {
  const [{ new: isNew }, change] = useFilters();
  const [link, setLink] = useState<string | null>(null);
  const mayManage = useMay("account:security");
  const close = () => change({ new: undefined });
  return (
    <AccountFrame
      title="Team"
      actions={
        mayManage &&
        !isNew && <Button label="Invite a member" className="main" onClick={() => change({ new: "yes" })} />
      }
    >
      {link !== null && (
        <ShownOnce
          title="The link of the invitation"
          text="Pass it on yourself, to one person: the first to accept joins the account."
          secret={link}
          onClose={() => setLink(null)}
        />
      )}
      {isNew && (
        <NewMember
          onCancel={close}
          onDone={(sent) => {
            setLink(sent.url);
            close();
          }}
        />
      )}
      <Members mayManage={mayManage} />
      {mayManage && <Invited onLink={setLink} />}
      <Memberships />
      <Curl path="api/account/members" />
    </AccountFrame>
  );
}

const Members = ({ mayManage }: { readonly mayManage: boolean }) => (
  <PanelList
    title="Members"
    lead={<p>People who may act for this account. The person whose own account it is owns it and is not listed.</p>}
    queryKey={["members"]}
    read={() => dataOf(api.GET("/api/account/members", { params: { query } }))}
    empty="Nobody else is a member of this account."
    columns={{
      Person: ({ member_id, member_name }) => (
        <>
          {member_name}
          <Id value={member_id} why={false} />
        </>
      ),
      Role: ({ role }) => role,
      Joined: ({ created_at }) => <Time at={created_at} />,
      Change: mayManage && ((member) => <MemberActions member={member} />),
    }}
  />
);

const MemberActions = ({ member: { id, role, member_name: name } }: { readonly member: Membership }) => (
  <div className={parts.row}>
    {roles
      .filter((other) => other !== role)
      .map((other) => (
        <Action
          key={other}
          label={`Make ${other}`}
          title={`Make ${name} ${other}`}
          what="member"
          confirm={`${name} is ${other} in every service within two seconds.`}
          run={() => api.members.changeRole(id, { role: other })}
        />
      ))}
    <Action
      label="Remove"
      what="member"
      name={name}
      kind="danger"
      confirm={`${name} no longer acts for this account. What they made stays.`}
      run={() => api.members.remove(id)}
    />
  </div>
);

const Invited = ({ onLink }: { readonly onLink: (link: string | null) => void }) => (
  <PanelList
    title="Open invitations"
    queryKey={["invitations", "mine"]}
    read={() =>
      dataOf(api.GET("/api/v1/invitations", { params: { query: { ...query, account_id: "mine", status: "open" } } }))
    }
    empty="No invitation is open."
    columns={{
      Person: ({ address }) => address ?? "by a link",
      Role: ({ role }) => role,
      Ends: ({ expires_at }) => <Time at={expires_at} />,
      Change: (one) => <InvitationActions invitation={one} onLink={onLink} />,
    }}
  />
);

/** Only a person belongs to other accounts, and only they switch. */
function Memberships() {
  const { data: credential } = useCredential();
  if (credential?.kind !== "token") return null;
  return (
    <PanelList
      title="Your other accounts"
      queryKey={["memberships"]}
      read={() => dataOf(api.GET("/api/account/memberships", { params: { query } }))}
      empty="You are not a member of another account."
      columns={{
        Account: ({ account_id, account_name }) => (
          <>
            {account_name}
            <Id value={account_id} why={false} />
          </>
        ),
        Role: ({ role }) => role,
        Change: (one) => <MembershipActions membership={one} actingId={credential.account_id} />,
      }}
    />
  );
}

interface MembershipProps {
  readonly membership: Membership;
  /** The account that the person acts for now. */
  readonly actingId: string;
}

function MembershipActions({
  membership: { id, account_id: accountId, account_name: name },
  actingId,
}: MembershipProps) {
  const isActing = accountId === actingId;
  const mayLeave = useMay("account:write");
  return (
    <div className={parts.row}>
      {!isActing && <Button label="Act for this account" onClick={() => actFor(accountId)} />}
      {mayLeave && (
        <Action
          label="Leave"
          title={`Leave ${name}`}
          what="membership"
          kind="danger"
          confirm="You no longer act for this account. To come back you need another invitation."
          run={() => api.account.leave(id)}
          onDone={() => isActing && actFor(null)}
        />
      )}
    </div>
  );
}
