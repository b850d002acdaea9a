import { Action } from "../../parts/dialog.tsx";
import { CreateForm, type CreateProps, FormAction } from "../../parts/form.tsx";
import { Id, Status, Time } from "../../parts/inline.tsx";
import parts from "../../parts/parts.module.css";
import { ResourceList } from "../../parts/resource-list.tsx";
import { Rename, Rotate, useCreation } from "../../parts/secret.tsx";
import { type Scope, useCredential, useMay } from "../../session/api.ts";
import { AccountFrame } from "./account-frame.tsx";
import { type Credential, type CredentialKind, clientKind, type Issued, keyKind } from "./credential-kinds.ts";
import { ScopeChoice, Scopes } from "./scope-choice.tsx";

export const KeysPage = () => <CredentialsPage key="keys" kind={keyKind} />;
export const ClientsPage = () => <CredentialsPage key="clients" kind={clientKind} />;

/** The credentials of one kind: listed, made, renamed, rotated, revoked. */
function CredentialsPage({ kind }: { readonly kind: CredentialKind }) {
  const maySecure = useMay("account:security");
  const { action, panels, show } = useCreation({
    label: `New ${kind.noun}`,
    isAllowed: maySecure,
    form: (ways) => <NewCredential kind={kind} {...ways} />,
    onceOf: ({ name, secret }: Issued) => ({ title: `The secret of ${name}`, text: kind.secretText, secret }),
  });
  return (
    <AccountFrame title={kind.title} actions={action}>
      <p>{kind.text}</p>
      {panels}
      <ResourceList
        label={kind.title}
        noun={kind.noun}
        path={kind.path}
        read={kind.list}
        empty={`There is no ${kind.noun} yet.`}
        columns={{
          Name: (one) => <Name credential={one} />,
          Status: ({ status }) => <Status>{status}</Status>,
          Scopes: ({ scopes }) => <Scopes scopes={scopes} />,
          Times: (one) => <Times credential={one} />,
          Change: maySecure && ((one: Credential) => <Actions kind={kind} credential={one} onIssued={show} />),
        }}
      />
    </AccountFrame>
  );
}

const Name = ({ credential }: { readonly credential: Credential }) => (
  <>
    {credential.name}
    {"hint" in credential && (
      <div className={parts.quiet}>
        <code>{credential.hint}…</code>
      </div>
    )}
    <Id value={credential.id} />
  </>
);

function Times({ credential }: { readonly credential: Credential }) {
  const { created_at, created_by, last_used_at, expires_at, revoked_at } = credential;
  const older = "secrets" in credential ? credential.secrets.filter(({ ends_at }) => ends_at !== null) : [];
  return (
    <>
      <div>
        created <Time at={created_at} />
        {created_by && ` by ${makers[created_by] ?? created_by}`}
      </div>
      <div>
        last used <Time at={last_used_at} />
      </div>
      {(revoked_at ?? expires_at) !== null && (
        <div>
          {revoked_at ? "revoked" : "expires"} <Time at={revoked_at ?? expires_at} />
        </div>
      )}
      {older.map(({ id, ends_at }) => (
        <div key={id}>
          old secret expires <Time at={ends_at} />
        </div>
      ))}
    </>
  );
}

const makers: Readonly<Record<string, string>> = { person: "a person", "first-key": "the installation" };

interface ActionsProps {
  readonly kind: CredentialKind;
  readonly credential: Credential;
  readonly onIssued: (issued: Issued) => void;
}

function Actions({ kind, credential, onIssued }: ActionsProps) {
  const { id, name, status } = credential;
  if (status !== "active") return null;
  const isReplaced = "replaced_by" in credential && credential.replaced_by !== null;
  const hasPrevious = "secrets" in credential && credential.secrets.some(({ ends_at }) => ends_at !== null);
  return (
    <div className={parts.row}>
      <Rename what={kind.noun} name={name} rename={(next) => kind.rename(id, next)} />
      {!isReplaced && (
        <Rotate
          label="Rotate"
          what={kind.noun}
          text={kind.rotateText}
          rotate={(seconds) => kind.rotate(id, seconds ?? 0)}
          onDone={onIssued}
        />
      )}
      {kind.endPrevious && hasPrevious && (
        <Action
          label="Revoke the old secret"
          what="secret"
          kind="danger"
          confirm="A program that still uses the old secret gets no more tokens."
          run={() => kind.endPrevious?.(id) ?? Promise.resolve()}
        />
      )}
      <Revoke kind={kind} id={id} name={name} />
    </div>
  );
}

/** Revokes a credential. What it has made goes on, unless the person ends that too. */
const Revoke = ({ kind, id, name }: { readonly kind: CredentialKind; readonly id: string; readonly name: string }) => (
  <FormAction
    label="Revoke"
    title={`Revoke the ${kind.noun} ${name}?`}
    submitLabel="Revoke"
    isDanger
    what={kind.noun}
    initial={{ isWithCreated: false }}
    fields={{ isWithCreated: { label: "Also revoke the keys and clients that it created, directly or indirectly" } }}
    run={({ isWithCreated }) => kind.revoke(id, isWithCreated)}
  >
    <p>{name} stops working everywhere within two seconds. This cannot be undone.</p>
  </FormAction>
);

const lifetimes = [
  ["", "never"],
  ["1", "in a day"],
  ["30", "in 30 days"],
  ["90", "in 90 days"],
  ["365", "in a year"],
] as const;

/** The form of a new key or client. It may do at most what its maker may. */
function NewCredential({ kind, ...ways }: CreateProps<Issued> & { readonly kind: CredentialKind }) {
  const { data: own } = useCredential();
  return (
    <CreateForm
      title={`New ${kind.noun}`}
      what={kind.noun}
      submitLabel={`Create the ${kind.noun}`}
      initial={{ name: "", scopes: [] as Scope[], days: "" }}
      fields={{
        name: { label: "Name", hint: "Tells you which program uses it.", required: true, maxLength: 100 },
        scopes: ({ value, set }) => (
          <ScopeChoice legend="Scopes" offered={own?.scopes ?? []} chosen={value} choose={set} />
        ),
        days: { label: "Expires", choices: lifetimes },
      }}
      run={({ name, scopes, days }, openedMs) => {
        if (scopes.length === 0) throw new Error(`Scopes: choose what the ${kind.noun} may do.`);
        const expires_at = days === "" ? null : new Date(openedMs + Number(days) * 86_400_000).toISOString();
        return kind.create({ name: name.trim(), scopes, expires_at });
      }}
      {...ways}
    />
  );
}
