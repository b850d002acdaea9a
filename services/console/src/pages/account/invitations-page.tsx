import type { Invitation } from "@signalbox/client";
import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Action } from "../../parts/dialog.tsx";
import { Id, Status, Time, type Tone } from "../../parts/inline.tsx";
import { choice, useFilters } from "../../parts/lists.tsx";
import parts from "../../parts/parts.module.css";
import { ResourceList } from "../../parts/resource-list.tsx";
import { ShownOnce } from "../../parts/secret.tsx";
import { api, dataOf } from "../../session/api.ts";
import { AccountFrame } from "./account-frame.tsx";
import { NewInvitation } from "./new-invitation.tsx";

const tones: Readonly<Record<Invitation["status"], Tone>> = {
  open: "wait",
  accepted: "good",
  revoked: "off",
  expired: "off",
};

/** People who were invited to this deployment, by mail or by a link that is passed on by hand. */
export function InvitationsPage() {
  const [{ new: isNew }, change] = useFilters();
  const [link, setLink] = useState<string | null>(null);
  const close = () => change({ new: undefined });
  return (
    <AccountFrame
      title="Invitations"
      actions={!isNew && <Button label="Invite a person" className="main" onClick={() => change({ new: "yes" })} />}
    >
      {link !== null && (
        <ShownOnce
          title="The link of the invitation"
          text="Pass it on yourself, to one person: the first to accept gets the role."
          secret={link}
          onClose={() => setLink(null)}
        />
      )}
      {isNew && (
        <NewInvitation
          onCancel={close}
          onDone={(sent) => {
            setLink(sent.url);
            close();
          }}
        />
      )}
      <ResourceList
        label="Invitations"
        noun="invitation"
        path="api/v1/invitations"
        read={(query) => dataOf(api.GET("/api/v1/invitations", { params: { query } }))}
        filters={{ status: choice("Status", Object.keys(tones)) }}
        empty="Nobody was invited in the last 30 days."
        columns={{
          Person: ({ id, address }) => (
            <>
              {address ?? "by a link"}
              <Id value={id} />
            </>
          ),
          Status: (one) => <Status tone={tones[one.status]}>{one.status}</Status>,
          Role: (one) => <Role invitation={one} />,
          Invited: ({ created_at }) => <Time at={created_at} />,
          Ends: ({ expires_at }) => <Time at={expires_at} />,
          Change: (one) => <InvitationActions invitation={one} onLink={setLink} />,
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

interface ActionsProps {
  readonly invitation: Invitation;
  /** Takes the link, which is null where it was mailed. */
  readonly onLink: (link: string | null) => void;
}

/** The ways to send an open invitation again, or to end it. */
export function InvitationActions({ invitation: { id, status, address }, onLink }: ActionsProps) {
  const isOpen = status === "open" || status === "expired";
  if (!isOpen) return null;
  const resend = async () => {
    onLink((await api.invitations.resend(id)).url);
  };
  return (
    <div className={parts.row}>
      <Action
        label={address === null ? "Make another link" : "Send again"}
        title={address === null ? "Make another link" : `Send the invitation of ${address} again`}
        what="invitation"
        confirm="It has a new link, which ends the earlier one, and is valid for at least seven days."
        run={resend}
      />
      {status === "open" && (
        <Action
          label="Revoke"
          what="invitation"
          name={address === null ? "by a link" : `of ${address}`}
          kind="danger"
          confirm="Its link stops working at once."
          run={() => api.invitations.revoke(id)}
        />
      )}
    </div>
  );
}
