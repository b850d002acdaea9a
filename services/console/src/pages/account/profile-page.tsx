import { queryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Answer } from "../../parts/answer.tsx";
import { Action } from "../../parts/dialog.tsx";
import { EditForm, useEdit } from "../../parts/edit.tsx";
import { Id, Time, type Tone, toned } from "../../parts/inline.tsx";
import { Curl } from "../../parts/lists.tsx";
import { Pairs, Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, ifMatch, useMay, type Versioned, versioned } from "../../session/api.ts";
import { type Account, accountQuery, readAccount } from "./account.ts";
import { AccountFrame } from "./account-frame.tsx";
import { Contact } from "./contact.tsx";

type Settings = Awaited<ReturnType<typeof readSettings>>["data"];

const readSettings = () => versioned(api.GET("/api/account/settings"));

const settingsQuery = queryOptions({ queryKey: ["account", "settings"], queryFn: readSettings });

const tones: Readonly<Record<Account["status"], Tone>> = {
  active: "good",
  pending: "wait",
  suspended: "failed",
  disabled: "off",
  deleted: "off",
};

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
          ["Status", toned(tones[status], status)],
          status_changed_at && ["Since", <Time key="" at={status_changed_at} />],
          status_reason && ["Because", status_reason],
          ["Id", <Id key="" value={id} />],
          external_id && ["Id elsewhere", <Id key="" value={external_id} why={false} />],
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
          label="Ask to have it back"
          what="request"
          kind="main"
          run={() => versioned(api.POST("/api/account/recovery"))}
          onDone={() => setAsked(true)}
        />
      )}
      <p role="status">{isAsked && "Administrators see your request now."}</p>
    </div>
  );
}

function EditProfile({ current }: { readonly current: Versioned<Account> }) {
  const edit = useEdit({
    current,
    queryKey: accountQuery.queryKey,
    inputOf: ({ display_name: displayName, locale, timezone }: Account) => ({
      displayName,
      locale,
      timezone,
    }),
    read: readAccount,
    save: ({ displayName, ...same }, _before, etag) =>
      versioned(
        api.PATCH("/api/account", {
          params: { header: ifMatch(etag) },
          body: { display_name: displayName, ...same },
        }),
      ),
  });
  return (
    <EditForm
      edit={edit}
      label="Profile"
      what="account"
      fields={{
        displayName: { label: "Name", hint: "Other people see it.", required: true, maxLength: 100 },
        locale: { label: "Language", hint: "Of mails and pages, such as en or de.", required: true },
        timezone: { label: "Time zone", hint: "Times in mails are in it.", required: true, list: "timezones" },
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

function EditMails({ current }: { readonly current: Versioned<Settings> }) {
  const edit = useEdit({
    current,
    queryKey: settingsQuery.queryKey,
    inputOf: ({ notifications }: Settings) => ({ productUpdates: notifications.product_updates }),
    read: readSettings,
    save: ({ productUpdates }, _before, etag) =>
      versioned(
        api.PATCH("/api/account/settings", {
          params: { header: ifMatch(etag) },
          body: { notifications: { product_updates: productUpdates } },
        }),
      ),
  });
  return (
    <EditForm
      edit={edit}
      label="Mails"
      what="settings"
      fields={{ productUpdates: { label: "News about the product" } }}
    >
      <h2>Mails</h2>
      <p className={parts.quiet}>Mails about the safety of your account come in any case.</p>
    </EditForm>
  );
}
