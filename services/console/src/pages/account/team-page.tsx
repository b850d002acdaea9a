import type { InvitationWithLink, Membership } from "@signalbox/client";
import { Button } from "../../parts/button.tsx";
import { Action } from "../../parts/dialog.tsx";
import { CreateForm, type CreateProps } from "../../parts/form.tsx";
import { Id, Time } from "../../parts/inline.tsx";
import { Curl } from "../../parts/lists.tsx";
import parts from "../../parts/parts.module.css";
import { PanelList } from "../../parts/resource-list.tsx";
import { useCreation } from "../../parts/secret.tsx";
import { actFor } from "../../session/acting-account.ts";
import { api, useCredential, useMay } from "../../session/api.ts";
import { AccountFrame } from "./account-frame.tsx";
import { type ActionsProps, addressField, InvitationActions, linkOf } from "./invitations-page.tsx";

/** An account has 200 members at most, a person few accounts. */
const query = { limit: 100 } as const;
const roles = ["viewer", "developer", "owner"] as const;

/** The people of the account, who is invited into it, and the other accounts of the person. */
export function TeamPage() {
  const mayManage = useMay("account:security");
  const { action, panels, show } = useCreation({
    label: "Invite a member",
    isAllowed: mayManage,
    form: (ways) => <NewMember {...ways} />,
    onceOf: linkOf("Give it to one person only: the first to accept joins the account."),
  });
  return (
    <AccountFrame title="Team" actions={action}>
      {panels}
      <Members mayManage={mayManage} />
      {mayManage && <Invited onSent={show} />}
      <Memberships />
      <Curl path="api/account/members" />
    </AccountFrame>
  );
}

const Members = ({ mayManage }: { readonly mayManage: boolean }) => (
  <PanelList
    title="Members"
    lead={
      <p>People who may act for this account. The person whose own account it is always owns it and is not listed.</p>
    }
    queryKey={["members"]}
    read={() => api.members.list(query)}
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
          confirm={`${name} becomes ${other} in every service within two seconds.`}
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

const Invited = ({ onSent }: Pick<ActionsProps, "onSent">) => (
  <PanelList
    title="Open invitations"
    queryKey={["invitations", "mine"]}
    read={() => api.invitations.list({ ...query, account_id: "mine", status: "open" })}
    empty="No invitation is open."
    columns={{
      Person: ({ address }) => address ?? "by link",
      Role: ({ role }) => role,
      Expires: ({ expires_at }) => <Time at={expires_at} />,
      Change: (one) => <InvitationActions invitation={one} onSent={onSent} />,
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
      read={() => api.memberships.list(query)}
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
      {!isActing && <Button label="Switch to this account" onClick={() => actFor(accountId)} />}
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

const roleChoices = [
  ["viewer", "viewer: reads"],
  ["developer", "developer: reads and writes"],
  ["owner", "owner: everything, also keys and members"],
] as const;

type Role = (typeof roleChoices)[number][0];

/** The form that invites a person into the account, by mail or by a link to pass on. */
const NewMember = (ways: CreateProps<InvitationWithLink>) => (
  <CreateForm
    title="Invite a member"
    what="invitation"
    submitLabel="Invite"
    initial={{ address: "", role: "developer" as Role }}
    fields={{ address: addressField, role: { label: "Role", choices: roleChoices } }}
    run={({ address, role }) => api.invitations.create({ account_id: "mine", address: address.trim() || null, role })}
    {...ways}
  />
);
