import type { AdministeredAccount } from "@signalbox/client";
import { useState } from "react";
import { Failure } from "../../parts/answer.tsx";
import { Button } from "../../parts/button.tsx";
import { Conflict } from "../../parts/conflict.tsx";
import { Undo } from "../../parts/dialog.tsx";
import { useEdit } from "../../parts/edit.tsx";
import { Fields } from "../../parts/form.tsx";
import { Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, ifMatch, type Versioned, versioned } from "../../session/api.ts";

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
    "The owner can sign in and read, and nothing else. Writes are refused, deliveries are held, subscriptions end. It holds in every service within two seconds.",
  disabled:
    "The owner can read the account, ask to have it back, and delete it. Everything else is refused within two seconds.",
  deleted:
    "Nobody can use the account. Its keys and sign-ins end, and its data is erased when the time to undo it is over. Needs a recent sign-in.",
};

export const administeredKey = (id: string) => ["administered-account", id];

interface ChangeStatusProps {
  readonly current: Versioned<Account>;
  readonly read: () => Promise<Versioned<Account>>;
}

/** Changes the state of an account: preview, reason, and a way back. */
export function ChangeStatus({ current, read }: ChangeStatusProps) {
  const { status, next_statuses } = current.data;
  const [before, setBefore] = useState<State | null>(null);
  const [to, setTo] = useState<Wanted["status"] | null>(null);
  const choices = next_statuses.filter((state): state is Wanted["status"] => state !== "pending");
  return (
    <Panel title="Change its state">
      {before !== null && next_statuses.includes(before) && (
        <UndoStatus current={current} to={before as Wanted["status"]} onDone={() => setBefore(null)} />
      )}
      {choices.length === 0 && <p>No other state can follow: the account is erased, or is being erased.</p>}
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
  const params = { path: { account_id: id } };
  const body = { status, reason: reason.trim() };
  return versioned(api.POST("/api/accounts/{account_id}/status", { params, headers: ifMatch(etag), body }));
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

const reason = {
  label: "Reason",
  hint: "The owner reads it: in the account, in refusals and in the audit.",
  required: true,
  maxLength: 500,
  isProse: true,
};

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
