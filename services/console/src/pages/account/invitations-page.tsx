import type { Invitation } from "@signalbox/client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Answer } from "../../parts/answer.tsx";
import { Action } from "../../parts/dialog.tsx";
import { Id, Status, Time, type Tone } from "../../parts/inline.tsx";
import { ChoiceFilter, Curl, Filters, Pager, useFilters } from "../../parts/lists.tsx";
import { Table } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { ShownOnce } from "../../parts/secret.tsx";
import { api, versioned } from "../../session/api.ts";
import { AccountFrame } from "./account-frame.tsx";
import { NewInvitation } from "./new-invitation.tsx";

const path = "api/v1/invitations";

const tones: Readonly<Record<Invitation["status"], Tone>> = {
  open: "wait",
  accepted: "good",
  revoked: "off",
  expired: "off",
};

/** People who were invited to this deployment, by mail or by a link that is passed on by hand. */
export function InvitationsPage() {
  const [{ cursor, status, new: isNew }, change] = useFilters();
  const [link, setLink] = useState<string | null>(null);
  const query = { limit: 20, ...(cursor && { cursor }), ...(status && { status }) };
  const invitations = useQuery({
    queryKey: ["invitations", query],
    placeholderData: keepPreviousData,
    queryFn: async () => (await versioned(api.GET(`/${path}`, { params: { query: query as object } }))).data,
  });
  const close = () => change({ new: undefined });
  return (
    <AccountFrame
      title="Invitations"
      actions={
        !isNew && (
          <button type="button" className="main" onClick={() => change({ new: "yes" })}>
            Invite a person
          </button>
        )
      }
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
      <Filters>
        <ChoiceFilter name="status" label="Status" choices={["open", "accepted", "revoked", "expired"]} />
      </Filters>
      <Answer
        query={invitations}
        what="invitations"
        isEmpty={({ items }) => items.length === 0}
        empty={<p>{status ? "No invitation matches this filter." : "Nobody was invited in the last 30 days."}</p>}
      >
        {({ items, next_cursor: next }) => (
          <>
            <Table
              label="Invitations"
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: "Person",
                  cell: ({ id, address }) => (
                    <>
                      {address ?? "by a link"}
                      <Id value={id} />
                    </>
                  ),
                },
                { name: "Status", cell: (one) => <Status tone={tones[one.status]}>{one.status}</Status> },
                { name: "Role", cell: (one) => <Role invitation={one} /> },
                { name: "Invited", cell: ({ created_at }) => <Time at={created_at} /> },
                { name: "Ends", cell: ({ expires_at }) => <Time at={expires_at} /> },
                { name: "Change", cell: (one) => <Actions invitation={one} onLink={setLink} /> },
              ]}
            />
            <Pager next={next} />
          </>
        )}
      </Answer>
      <Curl path={path} query={{ status }} />
    </AccountFrame>
  );
}

function Role({ invitation: { role, scopes_max } }: { readonly invitation: Invitation }) {
  return (
    <>
      {role}
      {scopes_max && (
        <div className={parts.quiet}>
          at most <code>{scopes_max.join(" ")}</code>
        </div>
      )}
    </>
  );
}

interface ActionsProps {
  readonly invitation: Invitation;
  /** Takes the link, which is null where it was mailed. */
  readonly onLink: (link: string | null) => void;
}

function Actions({ invitation: { id, status, address }, onLink }: ActionsProps) {
  const isOpen = status === "open" || status === "expired";
  if (!isOpen) return null;
  const resend = async () => {
    onLink((await api.invitations.resend(id)).url);
  };
  return (
    <div className={parts.row}>
      <Action
        label={address === null ? "Make another link" : "Send again"}
        what="invitation"
        confirm="It has a new link, which ends the earlier one, and is valid for at least seven days."
        run={resend}
      />
      {status === "open" && (
        <Action
          label="Revoke"
          what="invitation"
          kind="danger"
          confirm="Its link stops working at once."
          run={() => api.invitations.revoke(id)}
        />
      )}
    </div>
  );
}
