import { useState } from "react";
import { Failure } from "../../parts/answer.tsx";
import { Button } from "../../parts/button.tsx";
import { Code } from "../../parts/code.tsx";
import { SelectField } from "../../parts/fields.tsx";
import { Copy, Time } from "../../parts/inline.tsx";
import parts from "../../parts/parts.module.css";
import { useChange } from "../../parts/use-change.ts";
import { api, dataOf } from "../../session/api.ts";
import { bodyOfForm, type Form } from "./content-address.ts";

const lifetimes = [
  ["3600", "an hour"],
  ["86400", "a day"],
  ["604800", "a week"],
] as const;

/** Signs the address that is built: everyone who has it sees the image in this form until it ends. */
export function SignUrl({ id, form }: { readonly id: string; readonly form: Form }) {
  const [lifetime, setLifetime] = useState("86400");
  const signing = useChange(async () => {
    const params = { path: { image_id: id } };
    const body = { ...bodyOfForm(form), expires_in_seconds: Number(lifetime) };
    return await dataOf(api.POST("/images/{image_id}/signed-urls", { params, body }));
  });
  const { data: signed } = signing;
  return (
    <div className={parts.page}>
      <div className={parts.filters}>
        <SelectField label="Signed for" choices={lifetimes} value={lifetime} set={setLifetime} />
        <Button label="Sign the URL" change={signing} />
      </div>
      {signing.error && <Failure error={signing.error} what="image" />}
      {signed && "url" in signed && (
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
