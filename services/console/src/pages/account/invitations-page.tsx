import type { Invitation, InvitationWithLink } from "@signalbox/client";
import { Action } from "../../parts/dialog.tsx";
import { CreateForm, type CreateProps } from "../../parts/form.tsx";
import { Id, Status, Time } from "../../parts/inline.tsx";
import { choice } from "../../parts/lists.tsx";
import parts from "../../parts/parts.module.css";
import { ResourceList } from "../../parts/resource-list.tsx";
import { useCreation } from "../../parts/secret.tsx";
import { api, type Scope, useCredential } from "../../session/api.ts";
import { AccountFrame } from "./account-frame.tsx";
import { ScopeChoice } from "./scope-choice.tsx";

/** People who were invited to this deployment, by mail or by a link that is passed on by hand. */
export function InvitationsPage() {
  const { action, panels, show } = useCreation({
    label: "Invite a person",
    form: (ways) => <NewInvitation {...ways} />,
    onceOf: linkOf("Give it to one person only: the first to accept gets the role."),
  });
  return (
    <AccountFrame title="Invitations" actions={action}>
      {panels}
      <ResourceList
        label="Invitations"
        noun="invitation"
        path="api/v1/invitations"
        read={(query) => api.invitations.list(query)}
        filters={{ status: choice("Status", ["open", "accepted", "revoked", "expired"]) }}
        empty="Nobody was invited in the last 30 days."
        columns={{
          Person: ({ id, address }) => (
            <>
              {address ?? "by link"}
              <Id value={id} />
            </>
          ),
          Status: ({ status }) => <Status>{status}</Status>,
          Role: (one) => <Role invitation={one} />,
          Invited: ({ created_at }) => <Time at={created_at} />,
          Ends: ({ expires_at }) => <Time at={expires_at} />,
          Change: (one) => <InvitationActions invitation={one} onSent={show} />,
        }}
      />
    </AccountFrame>
  );
}

const Role = ({ invitation: { role, scopes_max } }: { readonly invitation: Invitation }) => (
  <>
    {role}
    {scopes_max && (
      <div className={parts.quiet}>
        at most <code>{scopes_max.join(" ")}</code>
      </div>
    )}
  </>
);

/** Shows the link of an invitation that was not mailed. */
export const linkOf =
  (text: string) =>
  ({ url }: InvitationWithLink) =>
    url === null ? null : { title: "Invitation link", text, secret: url };

export interface ActionsProps {
  readonly invitation: Invitation;
  readonly onSent: (sent: InvitationWithLink) => void;
}

/** The ways to send an open invitation again, or to end it. */
export function InvitationActions({ invitation: { id, status, address }, onSent }: ActionsProps) {
  const isOpen = status === "open" || status === "expired";
  if (!isOpen) return null;
  const resend = async () => onSent(await api.invitations.resend(id));
  return (
    <div className={parts.row}>
      <Action
        label={address === null ? "New link" : "Send again"}
        title={address === null ? "New link" : `Send the invitation for ${address} again`}
        what="invitation"
        confirm="It gets a new link, valid for at least seven days, and the old one stops working."
        run={resend}
      />
      {status === "open" && (
        <Action
          label="Revoke"
          what="invitation"
          name={address === null ? "by link" : `for ${address}`}
          kind="danger"
          confirm="Its link stops working at once."
          run={() => api.invitations.revoke(id)}
        />
      )}
    </div>
  );
}

const roles = [
  ["viewer", "viewer: reads"],
  ["owner", "owner: uses an account of their own"],
  ["operator", "operator: reads, and changes configuration"],
  ["admin", "admin: everything"],
] as const;

type InvitedRole = (typeof roles)[number][0];

const lifetimes = [
  ["1", "a day"],
  ["7", "a week"],
  ["29", "29 days"],
] as const;

const initial = {
  address: "",
  name: "",
  role: "owner" as InvitedRole,
  days: "7",
  isBounded: false,
  scopes: [] as Scope[],
};

/** The field of an invited person. */
export const addressField = {
  label: "E-mail address",
  hint: "Empty: you get a link to pass on, shown once.",
  type: "email",
} as const;

/** The form that invites a person, by mail or by a link to pass on. */
function NewInvitation(ways: CreateProps<InvitationWithLink>) {
  const { data: own } = useCredential();
  return (
    <CreateForm
      title="Invite a person"
      what="invitation"
      submitLabel="Invite"
      initial={initial}
      fields={({ isBounded }) => ({
        address: addressField,
        name: { label: "Name", hint: "Empty: the person enters it." },
        role: { label: "Role", choices: roles },
        days: { label: "Valid for", choices: lifetimes },
        isBounded: { label: "Restrict the scopes" },
        scopes:
          isBounded &&
          (({ value, set }) => (
            <ScopeChoice legend="Maximum scopes" offered={own?.scopes ?? []} chosen={value} choose={set} />
          )),
      })}
      run={({ address, name, role, days, isBounded, scopes }, openedMs) =>
        api.invitations.create({
          address: address.trim() || null,
          name: name.trim() || null,
          role,
          scopes_max: isBounded ? scopes : null,
          expires_at: new Date(openedMs + Number(days) * 86_400_000).toISOString(),
        })
      }
      {...ways}
    />
  );
}
