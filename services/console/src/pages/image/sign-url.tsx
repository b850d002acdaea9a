import { useState } from "react";
import { Failure } from "../../parts/answer.tsx";
import { useChange } from "../../parts/dialog.tsx";
import { Code, Copy, Time } from "../../parts/inline.tsx";
import { Field } from "../../parts/lists.tsx";
import parts from "../../parts/parts.module.css";
import { api, versioned } from "../../session/api.ts";
import { bodyOfForm, type Form } from "./content-address.ts";

const lifetimes = [
  [3_600, "an hour"],
  [86_400, "a day"],
  [604_800, "a week"],
] as const;

/** Signs the address that is built: everyone who has it sees the image in this form until it ends. */
export function SignUrl({ id, form }: { readonly id: string; readonly form: Form }) {
  const [lifetime, setLifetime] = useState("86400");
  const signing = useChange(async () => {
    const params = { path: { image_id: id } };
    const body = { ...bodyOfForm(form), expires_in_seconds: Number(lifetime) };
    return (await versioned(api.POST("/images/{image_id}/signed-urls", { params, body }))).data;
  });
  const { data: signed } = signing;
  return (
    <div className={parts.page}>
      <div className={parts.filters}>
        <Field label="Signed for">
          {(ids) => (
            <select {...ids} value={lifetime} onChange={({ target }) => setLifetime(target.value)}>
              {lifetimes.map(([seconds, text]) => (
                <option key={seconds} value={seconds}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
        <button type="button" disabled={signing.isPending} onClick={() => signing.mutate()}>
          Sign the URL
        </button>
      </div>
      {signing.error && <Failure error={signing.error} what="image" />}
      {signed && (
        <>
          <Code text={signed.url} label="signed URL" isPlain />
          <div className={parts.row}>
            <Copy text={signed.url}>Copy signed URL</Copy>
            <span>
              It ends <Time at={signed.expires_at} />.
            </span>
          </div>
        </>
      )}
    </div>
  );
}
