import type { AdministeredAccount } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { Failure } from "../../parts/answer.tsx";
import { Button } from "../../parts/button.tsx";
import { Undo } from "../../parts/dialog.tsx";
import { Conflict, useEdit } from "../../parts/edit.tsx";
import { reasonField } from "../../parts/fields.tsx";
import { Fields } from "../../parts/form.tsx";
import { Id, Status, Time } from "../../parts/inline.tsx";
import { OnePage, Pairs, Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { PanelList } from "../../parts/resource-list.tsx";
import { api, ifMatch, type Versioned, versioned } from "../../session/api.ts";

const readAccount = (id: string) => versioned(api.accounts.get(id));

/** One account as an administrator sees it: its state with the reason, what may follow, and its newest entries. */
export function AdministeredAccountPage() {
  const { id } = useParams({ from: "/accounts/$id" });
  const account = useQuery({
    queryKey: administeredKey(id),
    refetchOnWindowFocus: false,
    queryFn: () => readAccount(id),
  });
  return (
    <OnePage
      title="Account"
      actions={<Link to="/accounts">All accounts</Link>}
      query={account}
      what="account"
      path={`api/accounts/${id}`}
    >
      {(current) => (
        <>
          <Facts account={current.data} />
          <ChangeStatus current={current} read={() => readAccount(id)} />
          <Audit id={id} />
        </>
      )}
    </OnePage>
  );
}

function Facts({ account }: { readonly account: AdministeredAccount }) {
  const { id, status, status_reason, status_changed_at, status_changed_by, roles, contact_address } = account;
  const { external_id, created_at, recovery_requested_at, purged_at, metadata, scopes_max } = account;
  return (
    <Panel title={account.display_name || "Without a name"}>
      <Pairs
        items={[
          ["Status", <Status key="">{status}</Status>],
          status_changed_at && [
            "Since",
            <span key="">
              <Time at={status_changed_at} />, by the {status_changed_by}
            </span>,
          ],
          ["Reason", status_reason ?? "–"],
          recovery_requested_at && ["Reactivation requested", <Time key="" at={recovery_requested_at} />],
          purged_at && ["Erased", <Time key="" at={purged_at} />],
          ["Address", contact_address ?? "none confirmed"],
          ["Roles", roles.join(", ") || "none"],
          ["Scopes", scopes_max?.join(", ") ?? "all that its roles allow"],
          ["External id", external_id ?? "–"],
          [
            "Metadata",
            Object.entries(metadata)
              .map(([name, text]) => `${name}: ${text}`)
              .join(", ") || "–",
          ],
          ["Id", <Id key="" value={id} />],
          ["Created", <Time key="" at={created_at} />],
        ]}
      />
    </Panel>
  );
}

/** The newest entries of the audit of the account. */
const Audit = ({ id }: { readonly id: string }) => (
  <PanelList
    title="Recent audit"
    queryKey={["administered-audit", id]}
    options={{ refetchOnWindowFocus: false }}
    read={() => api.accountAuditLog.list(id, { limit: 10 })}
    empty="Nothing was recorded yet."
    columns={{
      Time: ({ created_at }) => <Time at={created_at} />,
      Action: ({ action }) => <code>{action}</code>,
      Outcome: ({ outcome }) => <Status>{outcome}</Status>,
      Reason: ({ reason }) => reason ?? "–",
      By: ({ actor }) => actor.account_id ?? actor.kind,
    }}
  />
);

type Account = AdministeredAccount;
type State = Account["status"];

interface Wanted {
  readonly status: Exclude<State, "pending">;
  readonly reason: string;
  /** Shown beside, where somebody else has changed them meanwhile. */
  readonly roles: string;
}

/** The meaning of each state for the owner, said before it is set. */
const effects: Readonly<Record<Wanted["status"], string>> = {
  active: "The owner may do everything again: writes are taken, and held deliveries go out.",
  suspended:
    "The owner can sign in and read, and nothing else. Writes are refused, deliveries are held, subscriptions end. It applies in every service within two seconds.",
  disabled:
    "The owner can read the account, request reactivation, and delete it. Everything else is refused within two seconds.",
  deleted:
    "Nobody can use the account. Its keys and sign-ins end, and its data is erased once this can no longer be undone. Needs a recent sign-in.",
};

const administeredKey = (id: string) => ["administered-account", id];

interface ChangeStatusProps {
  readonly current: Versioned<Account>;
  readonly read: () => Promise<Versioned<Account>>;
}

/** Changes the state of an account: preview, reason, and a way back. */
function ChangeStatus({ current, read }: ChangeStatusProps) {
  const { status, next_statuses } = current.data;
  const [before, setBefore] = useState<State | null>(null);
  const [to, setTo] = useState<Wanted["status"] | null>(null);
  const choices = next_statuses.filter((state): state is Wanted["status"] => state !== "pending");
  return (
    <Panel title="Change status">
      {before !== null && next_statuses.includes(before) && (
        <UndoStatus current={current} to={before as Wanted["status"]} onDone={() => setBefore(null)} />
      )}
      {choices.length === 0 && <p>No other status is possible: the account is erased, or is being erased.</p>}
      <div className={parts.row}>
        {choices.map((state) => (
          <Button key={state} label={`Make it ${state}`} aria-pressed={to === state} onClick={() => setTo(state)} />
        ))}
      </div>
      {to !== null && choices.includes(to) && (
        <Preview
          key={to}
          to={to}
          current={current}
          read={read}
          onDone={() => {
            setTo(null);
            setBefore(status);
          }}
          onCancel={() => setTo(null)}
        />
      )}
    </Panel>
  );
}

async function send({ status, reason }: Pick<Wanted, "status" | "reason">, { id }: Account, etag: string | null) {
  return versioned(api.accounts.setStatus(id, { status, reason: reason.trim() }, ifMatch(etag)));
}

interface PreviewProps extends ChangeStatusProps {
  readonly to: Wanted["status"];
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

function Preview({ to, current, read, onDone, onCancel }: PreviewProps) {
  const { id, display_name, status } = current.data;
  const { input, set, submit, saving, conflict, drop } = useEdit({
    current,
    queryKey: administeredKey(id),
    // The state of an account that waits for its owner is none that can be set, and differs from each that can.
    inputOf: ({ status, status_reason, roles }: Account): Wanted => ({
      status: status as Wanted["status"],
      reason: status_reason ?? "",
      roles: roles.join(", "),
    }),
    initial: { status: to, reason: "" },
    read,
    save: send,
    onDone,
  });
  const cancel = () => {
    drop();
    onCancel();
  };
  return (
    <form className={parts.page} onSubmit={submit} aria-label={`Make it ${to}`}>
      <p>
        <strong>
          {display_name || "The account"}: {status} → {to}.
        </strong>{" "}
        {effects[to]}
      </p>
      <Fields input={input} set={set} fields={{ reason }} />
      {saving.error && !conflict && <Failure error={saving.error} what="account" />}
      <div className={parts.row}>
        <button type="submit" className={to === "active" ? "main" : "danger"} disabled={saving.isPending}>
          Change it to {to}
        </button>
        <Button label="Cancel" onClick={cancel} />
      </div>
      {conflict && <Conflict what="account" {...conflict} onTheirs={cancel} />}
    </form>
  );
}

const reason = reasonField("Shown to the owner in the account, in refusals and in the audit.");

interface UndoStatusProps {
  readonly current: Versioned<Account>;
  readonly to: Wanted["status"];
  readonly onDone: () => void;
}

function UndoStatus({ current: { data: account, etag }, to, onDone }: UndoStatusProps) {
  const reason = `Undone: ${account.status_reason ?? account.status}`.slice(0, 500);
  return (
    <div role="status" className={parts.notice}>
      <p>
        It is {account.status} now. Before, it was {to}.
      </p>
      <Undo what="account" run={() => send({ status: to, reason }, account, etag)} onDone={onDone} />
    </div>
  );
}
