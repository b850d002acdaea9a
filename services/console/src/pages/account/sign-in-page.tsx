import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Answer } from "../../parts/answer.tsx";
import { Action } from "../../parts/dialog.tsx";
import { Id, Status, Time } from "../../parts/inline.tsx";
import { Curl, Pager, useFilters } from "../../parts/lists.tsx";
import { Panel, Table } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { Rename } from "../../parts/secret.tsx";
import { api, useMay, versioned } from "../../session/api.ts";
import { forgetSession, issuerOfSession } from "../../session/session.ts";
import { AccountFrame } from "./account-frame.tsx";

/** The ways in of the person: passkeys, and the browsers that are signed in. */
export function SignInPage() {
  const maySecure = useMay("account:security");
  return (
    <AccountFrame title="Passkeys and sign-ins">
      <Passkeys maySecure={maySecure} />
      <SignIns maySecure={maySecure} />
      <Curl path="api/account/sign-ins" />
    </AccountFrame>
  );
}

interface PartProps {
  readonly maySecure: boolean;
}

function Passkeys({ maySecure }: PartProps) {
  const passkeys = useQuery({
    queryKey: ["passkeys"],
    // The person adds one in another tab and comes back.
    refetchOnWindowFocus: "always",
    queryFn: async () =>
      (await versioned(api.GET("/api/account/passkeys", { params: { query: { limit: 100 } } }))).data,
  });
  const issuer = issuerOfSession();
  return (
    <Panel
      title="Passkeys"
      actions={
        issuer && (
          <a href={`${issuer.issuer}/passkeys`} target="_blank" rel="noreferrer" className="main">
            Add a passkey in a new tab
          </a>
        )
      }
    >
      <p>
        A passkey signs you in by the lock of your device, without a code. It is added on the page of the sign-in, which
        alone may ask your browser for one.
      </p>
      <Answer
        query={passkeys}
        what="passkeys"
        isEmpty={({ items }) => items.length === 0}
        empty={<p>There is no passkey yet.</p>}
      >
        {({ items }) => (
          <Table
            label="Passkeys"
            rows={items}
            keyOf={({ id }) => id}
            columns={[
              { name: "Name", cell: ({ name }) => name },
              { name: "Passkey", cell: ({ id }) => <Id value={id} /> },
              { name: "Kept", cell: ({ synced }) => (synced ? "on your synced devices" : "on one device") },
              { name: "Added", cell: ({ created_at }) => <Time at={created_at} /> },
              { name: "Last used", cell: ({ last_used_at }) => <Time at={last_used_at} /> },
              ...(maySecure
                ? [
                    {
                      name: "Change",
                      cell: ({ id, name }: (typeof items)[number]) => <PasskeyActions id={id} name={name} />,
                    },
                  ]
                : []),
            ]}
          />
        )}
      </Answer>
    </Panel>
  );
}

function PasskeyActions({ id, name }: { readonly id: string; readonly name: string }) {
  const params = { path: { passkey_id: id } };
  return (
    <div className={parts.row}>
      <Rename
        what="passkey"
        name={name}
        rename={(next) => versioned(api.PATCH("/api/account/passkeys/{passkey_id}", { params, body: { name: next } }))}
      />
      <Action
        label="Remove"
        what="passkey"
        kind="danger"
        confirm={`${name} signs you in no more. Remove it from your device too. The last way in to the account cannot be removed.`}
        run={() => versioned(api.DELETE("/api/account/passkeys/{passkey_id}", { params }))}
      />
    </div>
  );
}

function SignIns({ maySecure }: PartProps) {
  const [{ cursor }] = useFilters();
  const query = { limit: 20, ...(cursor && { cursor }) };
  const signIns = useQuery({
    queryKey: ["sign-ins", query],
    placeholderData: keepPreviousData,
    queryFn: async () => (await versioned(api.GET("/api/account/sign-ins", { params: { query } }))).data,
  });
  return (
    <Panel
      title="Sign-ins"
      actions={
        maySecure && (
          <Action
            label="Sign out everywhere"
            what="sign-in"
            kind="danger"
            confirm="Every sign-in of your account ends, on this device and on all others. API keys stay."
            run={() => versioned(api.DELETE("/api/account/sign-ins"))}
            onDone={() => forgetSession("You are signed out everywhere.")}
          />
        )
      }
    >
      <Answer
        query={signIns}
        what="sign-ins"
        isEmpty={({ items }) => items.length === 0}
        empty={<p>No browser is signed in at this deployment.</p>}
      >
        {({ items, next_cursor: next }) => (
          <>
            <Table
              label="Sign-ins"
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: "Browser",
                  cell: ({ browser, current }) => (
                    <>
                      {browser ?? "unknown"} {current && <Status tone="good">this one</Status>}
                    </>
                  ),
                },
                { name: "Address", cell: ({ address }) => address ?? "unknown" },
                { name: "Signed in", cell: ({ created_at }) => <Time at={created_at} /> },
                { name: "Last used", cell: ({ last_used_at }) => <Time at={last_used_at} /> },
                { name: "Sign-in", cell: ({ id }) => <Id value={id} /> },
                ...(maySecure
                  ? [
                      {
                        name: "Change",
                        cell: ({ id, current }: (typeof items)[number]) => <EndSignIn id={id} isCurrent={current} />,
                      },
                    ]
                  : []),
              ]}
            />
            <Pager next={next} />
          </>
        )}
      </Answer>
    </Panel>
  );
}

function EndSignIn({ id, isCurrent }: { readonly id: string; readonly isCurrent: boolean }) {
  return (
    <Action
      label="End"
      what="sign-in"
      kind="danger"
      confirm={
        isCurrent
          ? "This is the sign-in that you use now: you are signed out here."
          : "That browser is signed out, with every application that it signed in to, within two seconds."
      }
      run={() => versioned(api.DELETE("/api/account/sign-ins/{sign_in_id}", { params: { path: { sign_in_id: id } } }))}
      {...(isCurrent && { onDone: () => forgetSession("You ended the sign-in of this browser.") })}
    />
  );
}
