import { ApiError } from "@signalbox/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Failure } from "../../parts/answer.tsx";
import { Button } from "../../parts/button.tsx";
import { Box, submits } from "../../parts/dialog.tsx";
import { differencesOf } from "../../parts/differences.ts";
import { TextField } from "../../parts/fields.tsx";
import { Table } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
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
  const [reason, setReason] = useState("");
  const said = needsReason ? { reason: reason.trim() } : {};
  const queries = useQueryClient();
  // A message that is decided is gone, so its own page keeps what it shows; a refusal reads everything again.
  const readLists = () => queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => name !== "message" });
  const onError = () => queries.invalidateQueries();
  const dryRun = useMutation({ mutationFn: () => act(kind, seen, verb, { dry_run: true, ...said }), onError });
  const decision = useMutation({
    mutationFn: () => act(kind, seen, verb, { dry_run: false, ...said }),
    onError,
    onSuccess: ({ effect }) => {
      onDone?.(effect);
      onClose();
      return readLists();
    },
  });
  const error = decision.error ?? dryRun.error;
  const hasChanged = error instanceof ApiError && error.status === 409;
  const lookAgain = () => {
    setSeen(message);
    dryRun.reset();
    decision.reset();
  };
  const submit = submits(() => {
    decision.reset();
    dryRun.mutate();
  });
  return (
    <Box
      title={`${label}: ${seen.event_type ?? "a message without a type"}`}
      role="alertdialog"
      isOpen
      onClose={onClose}
    >
      <form className={parts.page} onSubmit={submit}>
        <p>{about}</p>
        {needsReason && (
          <TextField
            label="Reason"
            hint="It stands in the audit."
            required
            maxLength={500}
            value={reason}
            set={setReason}
          />
        )}
        {hasChanged ? (
          <Changed seen={seen} now={message} onLook={lookAgain} />
        ) : (
          error && <Failure error={error} what={kind.what} />
        )}
        <div role="status">{dryRun.data && !hasChanged && <p>What would happen: {dryRun.data.effect}</p>}</div>
        <div className={parts.row}>
          <button type="submit" disabled={dryRun.isPending}>
            What would happen?
          </button>
          {dryRun.data && !hasChanged && (
            <Button label={confirm} className={needsReason ? "danger" : "main"} change={decision} />
          )}
          <Button label="Cancel" onClick={onClose} />
        </div>
      </form>
    </Box>
  );
}

interface ChangedProps {
  readonly seen: Message;
  readonly now: Message;
  readonly onLook: () => void;
}

/** Shows both versions of a message that changed under the hand of the person. */
function Changed({ seen, now, onLook }: ChangedProps) {
  return (
    <div role="alert" className={parts.notice}>
      <strong>It has changed meanwhile. Nothing was done.</strong>
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
      <Button label="Go on with the present one" onClick={onLook} />
    </div>
  );
}
