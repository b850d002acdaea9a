import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Box } from "../../parts/dialog.tsx";
import { differencesOf } from "../../parts/differences.ts";
import { reasonField } from "../../parts/fields.tsx";
import { Fields } from "../../parts/form.tsx";
import { Table } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { TrialForm, useTrial } from "../../parts/trial.tsx";
import { act, type Message, type MessageKind } from "../operating.ts";

interface DecideProps {
  readonly kind: MessageKind;
  readonly action: "again" | "giveUp";
  /** The message as it is now. */
  readonly message: Message;
  readonly onDone?: (effect: string) => void;
}

/** Decides about a message. What would happen is asked first, about the message as it was seen. */
export function Decide(props: DecideProps) {
  const [isOpen, setOpen] = useState(false);
  const { kind, action } = props;
  return (
    <>
      <Button
        label={kind[action].label}
        className={action === "giveUp" ? "danger" : "main"}
        onClick={() => setOpen(true)}
      />
      {isOpen && <Dialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function Dialog({ kind, action, message, onDone, onClose }: DecideProps & { readonly onClose: () => void }) {
  const { verb, label, confirm, about } = kind[action];
  const needsReason = action === "giveUp";
  const [seen, setSeen] = useState(message);
  const [typed, setTyped] = useState({ reason: "" });
  const said = needsReason ? { reason: typed.reason.trim() } : {};
  const trial = useTrial(
    () => act(kind, seen, verb, { dry_run: true, ...said }),
    () => act(kind, seen, verb, { dry_run: false, ...said }),
    ({ effect }) => {
      onDone?.(effect);
      onClose();
    },
    // A message that is decided is gone, so its own page keeps what it shows.
    "message",
  );
  const lookAgain = () => {
    setSeen(message);
    trial.reset();
  };
  const title = `${label}: ${seen.event_type ?? "a message without a type"}`;
  return (
    <Box title={title} role="alertdialog" isOpen onClose={onClose}>
      <TrialForm
        trial={trial}
        what={kind.what}
        makeLabel={confirm}
        isDanger={needsReason}
        onMake={trial.make}
        preview={trial.tried && <p>Effect: {trial.tried.effect}</p>}
        beside={<Button label="Cancel" onClick={onClose} />}
      >
        <p>{about}</p>
        {needsReason && (
          <Fields input={typed} set={(changed) => setTyped({ ...typed, ...changed })} fields={{ reason }} />
        )}
        {trial.hasChanged && <Changed seen={seen} now={message} onLook={lookAgain} />}
      </TrialForm>
    </Box>
  );
}

const reason = reasonField("Shown in the audit.");

interface ChangedProps {
  readonly seen: Message;
  readonly now: Message;
  readonly onLook: () => void;
}

/** Shows both versions of a message that changed under the hand of the person. */
const Changed = ({ seen, now, onLook }: ChangedProps) => (
  <div role="alert" className={parts.notice}>
    <strong>It has changed in the meantime. Nothing was done.</strong>
    <Table
      label="Both versions"
      rows={differencesOf(seen, now)}
      keyOf={({ name }) => name}
      columns={{
        Field: ({ name }) => name.replaceAll("_", " "),
        Seen: ({ mine }) => <code>{mine}</code>,
        Now: ({ theirs }) => <code>{theirs}</code>,
      }}
    />
    <Button label="Continue with the current one" onClick={onLook} />
  </div>
);
