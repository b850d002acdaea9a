import type { Account, AccountSettings } from "@signalbox/client";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Answer } from "../../parts/answer.tsx";
import { Action } from "../../parts/dialog.tsx";
import { EditForm, useEdit } from "../../parts/edit.tsx";
import { Form } from "../../parts/form.tsx";
import { Id, Status, Time } from "../../parts/inline.tsx";
import { Curl } from "../../parts/lists.tsx";
import { Pairs, Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, ifMatch, useMay, type Versioned, versioned } from "../../session/api.ts";
import { AccountFrame, accountQuery, readAccount } from "./account-frame.tsx";

const readSettings = () => versioned(api.accountSettings.get());

const settingsQuery = queryOptions({ queryKey: ["account", "settings"], queryFn: readSettings });

/** The account of the signed-in person: what it is, its names, its contact address, its mails. */
export function ProfilePage() {
  const account = useQuery(accountQuery);
  const settings = useQuery(settingsQuery);
  const mayWrite = useMay("account:write");
  return (
    <AccountFrame title="Account">
      <Answer query={account} what="account">
        {(current) => (
          <>
            <Facts account={current.data} />
            {mayWrite && <EditProfile current={current} />}
            <Contact account={current.data} mayWrite={mayWrite} />
          </>
        )}
      </Answer>
      {mayWrite && (
        <Answer query={settings} what="settings">
          {(current) => <EditMails current={current} />}
        </Answer>
      )}
      <Curl path="api/account" />
    </AccountFrame>
  );
}

function Facts({ account }: { readonly account: Account }) {
  const { id, status, status_changed_at, status_reason, external_id, created_at, updated_at } = account;
  return (
    <Panel title={account.display_name}>
      <Pairs
        items={[
          ["Status", <Status key="">{status}</Status>],
          status_changed_at && ["Since", <Time key="" at={status_changed_at} />],
          status_reason && ["Reason", status_reason],
          ["Id", <Id key="" value={id} />],
          external_id && ["External id", <Id key="" value={external_id} why={false} />],
          ["Created", <Time key="" at={created_at} />],
          ["Changed", <Time key="" at={updated_at} />],
        ]}
      />
      {status === "disabled" && <Recovery />}
    </Panel>
  );
}

/** The way back from a disabled account, which an administrator opens. */
function Recovery() {
  const [isAsked, setAsked] = useState(false);
  return (
    <div className={parts.notice}>
      <p>The account is disabled: only an administrator of this deployment can make it active again.</p>
      {!isAsked && (
        <Action
          label="Request reactivation"
          what="request"
          kind="main"
          run={() => api.account.requestRecovery()}
          onDone={() => setAsked(true)}
        />
      )}
      <p role="status">{isAsked && "Administrators can see your request now."}</p>
    </div>
  );
}

function EditProfile({ current }: { readonly current: Versioned<Account> }) {
  const edit = useEdit({
    current,
    queryKey: accountQuery.queryKey,
    inputOf: ({ display_name: displayName, locale, timezone }: Account) => ({ displayName, locale, timezone }),
    read: readAccount,
    save: ({ displayName, ...same }, _before, etag) =>
      versioned(api.account.update({ display_name: displayName, ...same }, ifMatch(etag))),
  });
  return (
    <EditForm
      edit={edit}
      label="Profile"
      what="account"
      fields={{
        displayName: { label: "Name", hint: "Visible to other people.", required: true, maxLength: 100 },
        locale: { label: "Language", hint: "For emails and pages, such as en or de.", required: true },
        timezone: { label: "Time zone", hint: "Used for times in emails.", required: true, list: "timezones" },
      }}
    >
      <h2>Profile</h2>
      <datalist id="timezones">
        {Intl.supportedValuesOf("timeZone").map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </EditForm>
  );
}

function EditMails({ current }: { readonly current: Versioned<AccountSettings> }) {
  const edit = useEdit({
    current,
    queryKey: settingsQuery.queryKey,
    inputOf: ({ notifications }: AccountSettings) => ({ productUpdates: notifications.product_updates }),
    read: readSettings,
    save: ({ productUpdates }, _before, etag) =>
      versioned(api.accountSettings.update({ notifications: { product_updates: productUpdates } }, ifMatch(etag))),
  });
  return (
    <EditForm
      edit={edit}
      label="Emails"
      what="settings"
      fields={{ productUpdates: { label: "News about the product" } }}
    >
      <h2>Mails</h2>
      <p className={parts.quiet}>You always get emails about the security of your account.</p>
    </EditForm>
  );
}

/** The contact address, by which the person signs in and gets mails; a new one waits for the code that is mailed to it. */
function Contact({ account, mayWrite }: { readonly account: Account; readonly mayWrite: boolean }) {
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
            confirm="You get no more emails, and cannot sign in with a code. The last way to sign in cannot be removed."
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
          "None: you get no emails and cannot sign in with a code."
        )}
      </p>
      {pending && <Pending address={pending} mayWrite={mayWrite} />}
      {mayWrite && <NewAddress />}
    </Panel>
  );
}

const change = (address: string | null) => api.account.update({ contact_address: address });

function Pending({ address, mayWrite }: { readonly address: string; readonly mayWrite: boolean }) {
  const waits = (
    <p role="status">
      <strong>{address}</strong> is waiting for the code that was emailed to it. Until then the address above is in use.
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
          label: "Code from the email",
          required: true,
          inputMode: "numeric",
          autoComplete: "one-time-code",
          isSecret: true,
        },
      }}
      run={({ code }) => api.account.confirmContactAddress({ code: code.trim() })}
      beside={
        <>
          <Action label="Send another code" what="code" run={() => api.account.resendContactCode()} />
          <Action label="Keep the old address" what="address" run={() => api.account.cancelContactChange()} />
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
    submitLabel="Send a code"
    label="Change the address"
    initial={{ address: "" }}
    fields={{
      address: {
        label: "New address",
        hint: "It gets a code by email. The current address gets an email too, with a way to object.",
        type: "email",
        required: true,
        autoComplete: "email",
      },
    }}
    run={({ address }) => change(address.trim())}
  />
);
