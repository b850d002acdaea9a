import { useQuery } from "@tanstack/react-query";
import { Button } from "../parts/button.tsx";
import { Action } from "../parts/dialog.tsx";
import { Fields } from "../parts/form.tsx";
import { Id } from "../parts/inline.tsx";
import parts from "../parts/parts.module.css";
import { chooseTimes, useTimeChoice } from "../parts/time-choice.ts";
import { zoneName } from "../parts/time-text.ts";
import { actFor } from "../session/acting-account.ts";
import { api, useCredential } from "../session/api.ts";
import { signOutUrl } from "../session/issuer.ts";
import { forgetSession, issuerOfSession, leaveForSignIn, sessionState } from "../session/session.ts";
import styles from "./shell.module.css";

/** The signed-in person with roles, and the ways out: here, as somebody else, and everywhere. */
export function PersonMenu() {
  const { data: credential } = useCredential();
  const { data: account } = useQuery({
    queryKey: ["account"],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => api.account.get(),
  });
  return (
    <details className={styles.person}>
      <summary>
        {account?.display_name ?? "Account"}
        <br />
        <span className={parts.quiet}>
          {credential?.member_role ?? (credential?.roles.join(", ") || credential?.kind)}
        </span>
      </summary>
      <p className={parts.quiet}>
        {credential?.kind === "token" ? "Signed in" : `API key ${credential?.name ?? ""}`}
        {account && <Id value={account.id} why={false} />}
      </p>
      <Times />
      {credential?.member_role && <Button label="Back to your own account" onClick={() => actFor(null)} />}
      <SignOut isPerson={credential?.kind === "token"} />
    </details>
  );
}

/** The zone and the clock of all times. */
function Times() {
  const times = useTimeChoice();
  return (
    <Fields
      input={times}
      set={chooseTimes}
      fields={{
        zone: {
          label: "Time zone",
          choices: [
            ["local", `local, ${zoneName({ ...times, zone: "local" })}`],
            ["utc", "UTC"],
          ],
        },
        clock: {
          label: "Clock",
          choices: [
            ["24", "24 hours"],
            ["12", "12 hours"],
          ],
        },
      }}
    />
  );
}

function SignOut({ isPerson }: { readonly isPerson: boolean }) {
  const issuer = issuerOfSession();
  const session = sessionState.value;
  const isKey = session.kind === "signed-in" && session.credential.kind === "key";
  if (isKey || !issuer) return <Button label="Forget the key" onClick={() => forgetSession()} />;
  return (
    <>
      <Button label="Sign out" onClick={() => location.assign(signOutUrl(issuer))} />
      <Button label="Sign in as somebody else" onClick={() => void leaveForSignIn("login")} />
      {isPerson && <SignOutEverywhere />}
    </>
  );
}

/** Ends every sign-in of the account, this one included. */
export const SignOutEverywhere = () => (
  <Action
    label="Sign out everywhere"
    what="sign-in"
    title="Sign out everywhere"
    kind="danger"
    confirm="Every sign-in of your account ends, on this device and on all others. API keys stay valid."
    run={() => api.account.signOutEverywhere()}
    onDone={() => forgetSession("You are signed out everywhere.")}
  />
);
