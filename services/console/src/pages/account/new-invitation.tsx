import type { InvitationWithLink } from "@signalbox/client";
import { useState } from "react";
import { CreateForm, type CreateProps } from "../../parts/create-form.tsx";
import { CheckField, SelectField, TextField } from "../../parts/fields.tsx";
import parts from "../../parts/parts.module.css";
import { api, type Scope, useCredential } from "../../session/api.ts";
import { ScopeChoice } from "./scope-choice.tsx";

const roles = [
  ["viewer", "viewer: reads"],
  ["owner", "owner: uses an account of their own"],
  ["operator", "operator: reads, and changes configuration"],
  ["admin", "admin: everything"],
] as const;

type Role = (typeof roles)[number][0];

/** The form that invites a person, by mail or by a link to pass on. */
export function NewInvitation(ways: CreateProps<InvitationWithLink>) {
  const { data: own } = useCredential();
  const [address, setAddress] = useState("");
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("owner");
  const [isBounded, setBounded] = useState(false);
  const [scopes, setScopes] = useState<Scope[]>([]);
  const [days, setDays] = useState("7");
  const create = (openedMs: number) =>
    api.invitations.create({
      address: address.trim() || null,
      name: name.trim() || null,
      role,
      scopes_max: isBounded ? scopes : null,
      expires_at: new Date(openedMs + Number(days) * 86_400_000).toISOString(),
    });
  return (
    <CreateForm title="Invite a person" what="invitation" action="Invite" create={create} {...ways}>
      <TextField
        label="E-mail address"
        hint="Empty: you get a link to pass on yourself, shown once."
        type="email"
        autoComplete="off"
        value={address}
        set={setAddress}
      />
      <TextField label="Name" hint="Empty: the person gives it." autoComplete="off" value={name} set={setName} />
      <div className={parts.fields}>
        <SelectField label="Role" choices={roles} value={role} set={setRole} />
        <SelectField
          label="Valid for"
          choices={[
            ["1", "a day"],
            ["7", "a week"],
            ["29", "29 days"],
          ]}
          value={days}
          set={setDays}
        />
      </div>
      <CheckField label="Less than the role brings" value={isBounded} set={setBounded} />
      {isBounded && <ScopeChoice legend="At most" offered={own?.scopes ?? []} chosen={scopes} choose={setScopes} />}
    </CreateForm>
  );
}
