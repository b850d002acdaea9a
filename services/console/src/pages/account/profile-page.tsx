import { queryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Answer } from "../../parts/answer.tsx";
import { Action } from "../../parts/dialog.tsx";
import { EditForm, useEdit } from "../../parts/edit.tsx";
import { Id, Status, Time, type Tone } from "../../parts/inline.tsx";
import { Curl, Field } from "../../parts/lists.tsx";
import { Pairs, Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, useMay, type Versioned, versioned } from "../../session/api.ts";
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
          [
            "Status",
            <Status key="" tone={tones[status]}>
              {status}
            </Status>,
          ],
          ...(status_changed_at ? [["Since", <Time key="" at={status_changed_at} />] as const] : []),
          ...(status_reason ? [["Because", status_reason] as const] : []),
          ["Id", <Id key="" value={id} />],
          ...(external_id ? [["Id elsewhere", <Id key="" value={external_id} why={false} />] as const] : []),
          ["Made", <Time key="" at={created_at} />],
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

interface ProfileInput {
  readonly displayName: string;
  readonly locale: string;
  readonly timezone: string;
}

function EditProfile({ current }: { readonly current: Versioned<Account> }) {
  const edit = useEdit({
    current,
    queryKey: accountQuery.queryKey,
    inputOf: ({ display_name: displayName, locale, timezone }: Account): ProfileInput => ({
      displayName,
      locale,
      timezone,
    }),
    read: readAccount,
    save: ({ displayName, ...same }, _before, etag) =>
      versioned(
        api.PATCH("/api/account", {
          params: { header: etag === null ? {} : { "If-Match": etag } },
          body: { display_name: displayName, ...same },
        }),
      ),
  });
  const { input, set } = edit;
  return (
    <EditForm edit={edit} label="Profile" what="account">
      <h2>Profile</h2>
      <div className={parts.fields}>
        <Field label="Name" hint="Other people see it.">
          {(ids) => (
            <input
              {...ids}
              required
              maxLength={100}
              value={input.displayName}
              onChange={({ target }) => set({ displayName: target.value })}
            />
          )}
        </Field>
        <Field label="Language" hint="Of mails and pages, such as en or de.">
          {(ids) => (
            <input {...ids} required value={input.locale} onChange={({ target }) => set({ locale: target.value })} />
          )}
        </Field>
        <Field label="Time zone" hint="Times in mails are in it.">
          {(ids) => (
            <>
              <input
                {...ids}
                required
                list="timezones"
                value={input.timezone}
                onChange={({ target }) => set({ timezone: target.value })}
              />
              <datalist id="timezones">
                {Intl.supportedValuesOf("timeZone").map((zone) => (
                  <option key={zone} value={zone} />
                ))}
              </datalist>
            </>
          )}
        </Field>
      </div>
    </EditForm>
  );
}

interface MailsInput {
  readonly productUpdates: boolean;
}

function EditMails({ current }: { readonly current: Versioned<Settings> }) {
  const edit = useEdit({
    current,
    queryKey: settingsQuery.queryKey,
    inputOf: ({ notifications }: Settings): MailsInput => ({ productUpdates: notifications.product_updates }),
    read: readSettings,
    save: ({ productUpdates }, _before, etag) =>
      versioned(
        api.PATCH("/api/account/settings", {
          params: { header: etag === null ? {} : { "If-Match": etag } },
          body: { notifications: { product_updates: productUpdates } },
        }),
      ),
  });
  const { input, set } = edit;
  return (
    <EditForm edit={edit} label="Mails" what="settings">
      <h2>Mails</h2>
      <label className={parts.check}>
        <input
          type="checkbox"
          checked={input.productUpdates}
          onChange={({ target }) => set({ productUpdates: target.checked })}
        />
        News about the product
      </label>
      <p className={parts.quiet}>Mails about the safety of your account come in any case.</p>
    </EditForm>
  );
}
