import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Action } from "../../parts/dialog.tsx";
import { Id, Status, Time } from "../../parts/inline.tsx";
import { Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { Listing, PanelList, ResourceList } from "../../parts/resource-list.tsx";
import { Rename, ShownOnce } from "../../parts/secret.tsx";
import { api, useMay } from "../../session/api.ts";
import { forgetSession, issuerOfSession } from "../../session/session.ts";
import { SignOutEverywhere } from "../../shell/person-menu.tsx";
import { AccountFrame } from "./account-frame.tsx";

/** The ways in of the person: passkeys, identity providers, recovery codes, and the browsers that are signed in. */
export function SignInPage() {
  const maySecure = useMay("account:security");
  return (
    <AccountFrame title="Passkeys and sign-ins">
      <Passkeys maySecure={maySecure} />
      <Logins maySecure={maySecure} />
      <RecoveryCodes maySecure={maySecure} />
      <SignIns maySecure={maySecure} />
    </AccountFrame>
  );
}

interface PartProps {
  readonly maySecure: boolean;
}

function Passkeys({ maySecure }: PartProps) {
  const issuer = issuerOfSession();
  return (
    <PanelList
      title="Passkeys"
      actions={
        issuer && (
          <a href={`${issuer.issuer}/passkeys`} target="_blank" rel="noreferrer" className="main">
            Add a passkey in a new tab
          </a>
        )
      }
      lead={
        <p>
          A passkey signs you in with your device's screen lock, without a code. You add it on the sign-in page, as no
          other page may ask your browser for one.
        </p>
      }
      queryKey={["passkeys"]}
      // The person adds one in another tab and comes back.
      options={{ refetchOnWindowFocus: "always" }}
      read={() => api.passkeys.list({ limit: 100 })}
      empty="There is no passkey yet."
      columns={{
        Name: ({ name }) => name,
        Passkey: ({ id }) => <Id value={id} />,
        Stored: ({ synced }) => (synced ? "on your synced devices" : "on one device"),
        Added: ({ created_at }) => <Time at={created_at} />,
        "Last used": ({ last_used_at }) => <Time at={last_used_at} />,
        Change: maySecure && (({ id, name }) => <PasskeyActions id={id} name={name} />),
      }}
    />
  );
}

function RecoveryCodes({ maySecure }: PartProps) {
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const counted = useQuery({ queryKey: ["recovery-codes"], queryFn: () => api.recoveryCodes.get() });
  if (codes) {
    const text = "Each code signs you in once, without your mailbox or a passkey. Keep them where nobody else looks.";
    return (
      <ShownOnce title="Your recovery codes" text={text} secret={codes.join("\n")} onClose={() => setCodes(null)} />
    );
  }
  return (
    <Panel
      title="Recovery codes"
      actions={
        maySecure && (
          <Action
            label="Create new codes"
            title="Create new recovery codes"
            what="recovery codes"
            confirm="Ten new codes are shown once. Earlier ones no longer work."
            run={async () => setCodes((await api.recoveryCodes.create()).codes)}
          />
        )
      }
    >
      <p>Codes left: {counted.data?.left ?? "…"}</p>
    </Panel>
  );
}

const PasskeyActions = ({ id, name }: { readonly id: string; readonly name: string }) => (
  <div className={parts.row}>
    <Rename what="passkey" name={name} rename={(next) => api.passkeys.rename(id, { name: next })} />
    <Action
      label="Remove"
      what="passkey"
      name={name}
      kind="danger"
      confirm={`${name} no longer signs you in. Remove it from your device too. The last way to sign in cannot be removed.`}
      run={() => api.passkeys.remove(id)}
    />
  </div>
);

/** Logins at identity providers; the built-in issuer needs none. */
function Logins({ maySecure }: PartProps) {
  const logins = useQuery({
    queryKey: ["identities"],
    queryFn: async () => {
      const { items } = await api.identities.list({ limit: 100 });
      return { items: items.filter(({ issuer }) => issuer !== "signalbox") };
    },
  });
  if (logins.data?.items.length === 0) return null;
  return (
    <Panel title="Identity providers">
      <Listing
        query={logins}
        what="logins"
        empty="No identity provider is connected."
        label="Identity providers"
        columns={{
          Provider: ({ issuer }) => issuer,
          Subject: ({ subject_hint }) => subject_hint,
          Connected: ({ created_at }) => <Time at={created_at} />,
          Change:
            maySecure &&
            (({ id, issuer }) => (
              <Action
                label="Remove"
                what="login"
                name={`at ${issuer}`}
                kind="danger"
                confirm={`${issuer} no longer signs you in to this account. The last way to sign in cannot be removed.`}
                run={() => api.identities.unlink(id)}
              />
            )),
        }}
      />
    </Panel>
  );
}

const SignIns = ({ maySecure }: PartProps) => (
  <Panel title="Sign-ins" actions={maySecure && <SignOutEverywhere />}>
    <ResourceList
      label="Sign-ins"
      noun="sign-in"
      path="api/account/sign-ins"
      read={(query) => api.signIns.list(query)}
      empty="No browser is signed in at this deployment."
      columns={{
        Browser: ({ browser, current }) => (
          <>
            {browser ?? "unknown"} {current && <Status tone="good">current</Status>}
          </>
        ),
        Address: ({ address }) => address ?? "unknown",
        "Signed in": ({ created_at }) => <Time at={created_at} />,
        "Last used": ({ last_used_at }) => <Time at={last_used_at} />,
        "Sign-in": ({ id }) => <Id value={id} />,
        Change:
          maySecure &&
          (({ id, current, browser }) => (
            <EndSignIn id={id} browser={browser ?? "an unknown browser"} isCurrent={current} />
          )),
      }}
    />
  </Panel>
);

interface EndSignInProps {
  readonly id: string;
  readonly browser: string;
  readonly isCurrent: boolean;
}

const EndSignIn = ({ id, browser, isCurrent }: EndSignInProps) => (
  <Action
    label="End"
    what="sign-in"
    name={`of ${browser}`}
    kind="danger"
    confirm={
      isCurrent
        ? "This is the sign-in that you use now: you are signed out here."
        : "That browser is signed out, with every application that it signed in to, within two seconds."
    }
    run={() => api.signIns.end(id)}
    {...(isCurrent && { onDone: () => forgetSession("You ended the sign-in of this browser.") })}
  />
);
