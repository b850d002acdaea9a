import type { InvitationWithLink } from "@signalbox/client";
import { CreateForm, type CreateProps } from "../../parts/form.tsx";
import { api } from "../../session/api.ts";

const roles = [
  ["viewer", "viewer: reads"],
  ["developer", "developer: reads and writes"],
  ["owner", "owner: everything, also keys and members"],
] as const;

type Role = (typeof roles)[number][0];

/** The field of an invited person. */
export const addressField = {
  label: "E-mail address",
  hint: "Empty: you get a link to pass on yourself, shown once.",
  type: "email",
} as const;

/** The form that invites a person into the account, by mail or by a link to pass on. */
export const NewMember = (ways: CreateProps<InvitationWithLink>) => (
  <CreateForm
    title="Invite a member"
    what="invitation"
    submitLabel="Invite"
    initial={{ address: "", role: "developer" as Role }}
    fields={{ address: addressField, role: { label: "Role", choices: roles } }}
    run={({ address, role }) => api.invitations.create({ account_id: "mine", address: address.trim() || null, role })}
    {...ways}
  />
);
