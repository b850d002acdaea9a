import type { InvitationWithLink } from "@signalbox/client";
import { useState } from "react";
import { CreateForm, type CreateProps } from "../../parts/create-form.tsx";
import { SelectField, TextField } from "../../parts/fields.tsx";
import parts from "../../parts/parts.module.css";
import { api } from "../../session/api.ts";

const roles = [
  ["viewer", "viewer: reads"],
  ["developer", "developer: reads and writes"],
  ["owner", "owner: everything, also keys and members"],
] as const;

type Role = (typeof roles)[number][0];

/** The form that invites a person into the account, by mail or by a link to pass on. */
export function NewMember(ways: CreateProps<InvitationWithLink>) {
  const [address, setAddress] = useState("");
  const [role, setRole] = useState<Role>("developer");
  const create = () => api.invitations.create({ account_id: "mine", address: address.trim() || null, role });
  return (
    <CreateForm title="Invite a member" what="invitation" action="Invite" create={create} {...ways}>
      <TextField
        label="E-mail address"
        hint="Empty: you get a link to pass on yourself, shown once."
        type="email"
        autoComplete="off"
        value={address}
        set={setAddress}
      />
      <div className={parts.fields}>
        <SelectField label="Role" choices={roles} value={role} set={setRole} />
      </div>
    </CreateForm>
  );
}
