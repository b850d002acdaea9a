import { type ReactNode, useEffect, useState } from "react";
import { Button } from "../parts/button.tsx";
import { FieldOf } from "../parts/fields.tsx";
import { submits } from "../parts/form.tsx";
import parts from "../parts/parts.module.css";
import { canReturnHere, type Issuer } from "../session/issuer.ts";
import { leaveForSignIn, sessionState, signInWithKey } from "../session/session.ts";
import { useStore } from "../session/store.ts";
import styles from "./shell.module.css";

/** Shows its children to a person who is signed in, and to others the ways in. */
export function Gate({ children }: { readonly children: ReactNode }) {
  const session = useStore(sessionState);
  if (session.kind === "signed-in") return children;
  return (
    <main className={styles.gate}>
      <div>
        <h1>Signalbox</h1>
        {session.kind === "starting" ? (
          <p role="status">Checking your sign-in …</p>
        ) : (
          <WaysIn issuer={session.issuer} problem={session.problem} />
        )}
      </div>
    </main>
  );
}

function WaysIn({ issuer, problem }: { readonly issuer: Issuer | null; readonly problem: string | null }) {
  useEffect(() => {
    document.title = "Sign in · Signalbox";
  }, []);
  return (
    <>
      {problem && (
        <p role="alert" className={parts.notice}>
          {problem}
        </p>
      )}
      {issuer === null ? (
        <p>This deployment signs people in elsewhere, and that sign-in cannot return to the console. Use an API key.</p>
      ) : (
        <SignInButton issuer={issuer} />
      )}
      <KeyForm />
    </>
  );
}

function SignInButton({ issuer }: { readonly issuer: Issuer }) {
  if (!canReturnHere(issuer)) {
    const home = `${new URL(issuer.issuer).origin}${location.pathname}`;
    return (
      <p>
        You can sign in at <a href={home}>{home}</a>, the public address of this deployment.
      </p>
    );
  }
  return (
    <p>
      <Button label="Sign in" className="main" onClick={() => void leaveForSignIn()} />
    </p>
  );
}

function KeyForm() {
  const [key, setKey] = useState("");
  const submit = submits(() => {
    if (key.trim() !== "") signInWithKey(key.trim());
  });
  return (
    <form className={parts.panel} onSubmit={submit}>
      <FieldOf
        label="Or an API key"
        hint="Kept in the memory of this page only: closing or reloading it forgets the key."
        type="password"
        value={key}
        set={setKey}
      />
      <div>
        <button type="submit">Use the key</button>
      </div>
    </form>
  );
}
