import type { InvitationWithLink } from "@signalbox/client";
import { useState } from "react";
import { CreateForm } from "../../parts/create-form.tsx";
import { Field } from "../../parts/lists.tsx";
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

interface NewProps {
  readonly onDone: (invitation: InvitationWithLink) => void;
  readonly onCancel: () => void;
}

/** The form that invites a person, by mail or by a link to pass on. */
export function NewInvitation({ onDone, onCancel }: NewProps) {
  const { data: own } = useCredential();
  const [address, setAddress] = useState("");
  const [role, setRole] = useState<Role>("owner");
  const [isBounded, setBounded] = useState(false);
  const [scopes, setScopes] = useState<Scope[]>([]);
  const [days, setDays] = useState("7");
  const create = (idempotencyKey: string) =>
    api.invitations.create(
      {
        address: address.trim() || null,
        role,
        scopes_max: isBounded ? scopes : null,
        expires_at: new Date(Date.now() + Number(days) * 86_400_000).toISOString(),
      },
      { idempotencyKey },
    );
  return (
    <CreateForm
      title="Invite a person"
      what="invitation"
      action="Invite"
      create={create}
      onDone={onDone}
      onCancel={onCancel}
    >
      <Field label="E-mail address" hint="Empty: you get a link to pass on yourself, shown once.">
        {(ids) => (
          <input
            {...ids}
            type="email"
            autoComplete="off"
            value={address}
            onChange={({ target }) => setAddress(target.value)}
          />
        )}
      </Field>
      <div className={parts.fields}>
        <Field label="Role">
          {(ids) => (
            <select {...ids} value={role} onChange={({ target }) => setRole(target.value as Role)}>
              {roles.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Valid for">
          {(ids) => (
            <select {...ids} value={days} onChange={({ target }) => setDays(target.value)}>
              <option value="1">a day</option>
              <option value="7">a week</option>
              <option value="29">29 days</option>
            </select>
          )}
        </Field>
      </div>
      <label className={parts.check}>
        <input type="checkbox" checked={isBounded} onChange={({ target }) => setBounded(target.checked)} />
        Less than the role brings
      </label>
      {isBounded && <ScopeChoice legend="At most" offered={own?.scopes ?? []} chosen={scopes} choose={setScopes} />}
    </CreateForm>
  );
}
