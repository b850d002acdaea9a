import { Action } from "../../parts/dialog.tsx";
import { Form } from "../../parts/form.tsx";
import { Status } from "../../parts/inline.tsx";
import { Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, versioned } from "../../session/api.ts";
import type { Account } from "./account.ts";

/** The contact address, by which the person signs in and gets mails; a new one waits for the code that is mailed to it. */
export function Contact({ account, mayWrite }: { readonly account: Account; readonly mayWrite: boolean }) {
  const { contact_address: address, pending_contact_address: pending } = account;
  return (
    <Panel
      title="Contact address"
      actions={
        mayWrite &&
        address && (
          <Action
            label="Remove the address"
            what="address"
            name={address}
            kind="danger"
            confirm="No mails come any more, and no code by which you could sign in. The last way in to the account cannot be removed."
            run={() => change(null)}
          />
        )
      }
    >
      <p>
        {address ? (
          <>
            {address}{" "}
            <Status tone={account.contact_address_verified ? "good" : "wait"}>
              {account.contact_address_verified ? "verified" : "not verified"}
            </Status>
          </>
        ) : (
          "There is none: you get no mails, and cannot sign in with a code."
        )}
      </p>
      {pending && <Pending address={pending} mayWrite={mayWrite} />}
      {mayWrite && <NewAddress />}
    </Panel>
  );
}

const change = (address: string | null) => versioned(api.PATCH("/api/account", { body: { contact_address: address } }));

function Pending({ address, mayWrite }: { readonly address: string; readonly mayWrite: boolean }) {
  const waits = (
    <p role="status">
      <strong>{address}</strong> waits for the code that was mailed to it. Until then the address above is in use.
    </p>
  );
  if (!mayWrite) return <div className={parts.notice}>{waits}</div>;
  return (
    <Form
      what="code"
      submitLabel="Confirm"
      kind="main"
      className={parts.notice}
      label="Confirm the new address"
      initial={{ code: "" }}
      fields={{
        code: {
          label: "Code from the mail",
          required: true,
          inputMode: "numeric",
          autoComplete: "one-time-code",
          isSecret: true,
        },
      }}
      run={({ code }) => versioned(api.POST("/api/account/contact-change/confirm", { body: { code: code.trim() } }))}
      beside={
        <>
          <Action
            label="Send another code"
            what="code"
            run={() => versioned(api.POST("/api/account/contact-change/resend"))}
          />
          <Action
            label="Keep the old address"
            what="address"
            run={() => versioned(api.DELETE("/api/account/contact-change"))}
          />
        </>
      }
    >
      {waits}
    </Form>
  );
}

const NewAddress = () => (
  <Form
    what="address"
    submitLabel="Mail a code"
    label="Change the address"
    initial={{ address: "" }}
    fields={{
      address: {
        label: "Another address",
        hint: "A code is mailed to it. The address in use gets a mail too, with a way to object.",
        type: "email",
        required: true,
        autoComplete: "email",
      },
    }}
    run={({ address }) => change(address.trim())}
  />
);
