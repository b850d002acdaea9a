import type { InvitationWithLink } from "@signalbox/client";
import { CreateForm, type CreateProps } from "../../parts/form.tsx";
import { api, type Scope, useCredential } from "../../session/api.ts";
import { addressField } from "./new-member.tsx";
import { ScopeChoice } from "./scope-choice.tsx";

const roles = [
  ["viewer", "viewer: reads"],
  ["owner", "owner: uses an account of their own"],
  ["operator", "operator: reads, and changes configuration"],
  ["admin", "admin: everything"],
] as const;

type Role = (typeof roles)[number][0];

const lifetimes = [
  ["1", "a day"],
  ["7", "a week"],
  ["29", "29 days"],
] as const;

const initial = { address: "", name: "", role: "owner" as Role, days: "7", isBounded: false, scopes: [] as Scope[] };

/** The form that invites a person, by mail or by a link to pass on. */
export function NewInvitation(ways: CreateProps<InvitationWithLink>) {
  const { data: own } = useCredential();
  return (
    <CreateForm
      title="Invite a person"
      what="invitation"
      submitLabel="Invite"
      initial={initial}
      fields={({ isBounded }) => ({
        address: addressField,
        name: { label: "Name", hint: "Empty: the person gives it." },
        role: { label: "Role", choices: roles },
        days: { label: "Valid for", choices: lifetimes },
        isBounded: { label: "Less than the role brings" },
        scopes:
          isBounded &&
          (({ value, set }) => (
            <ScopeChoice legend="Scopes at most" offered={own?.scopes ?? []} chosen={value} choose={set} />
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
