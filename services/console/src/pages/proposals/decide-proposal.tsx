import { useState } from "react";
import { Failure } from "../../parts/answer.tsx";
import { Box, FormBox, useChange } from "../../parts/dialog.tsx";
import { Field } from "../../parts/lists.tsx";
import parts from "../../parts/parts.module.css";
import type { ChangeResult } from "../properties/property-change.ts";
import { approveProposal, withdrawProposal } from "../properties/proposal.ts";

interface ApproveProps {
  readonly id: string;
  readonly onApproved: (results: readonly ChangeResult[]) => void;
}

/** Approves the changes of another operator: tried first, then made. */
export function ApproveProposal({ id, onApproved }: ApproveProps) {
  const [isOpen, setOpen] = useState(false);
  const dryRun = useChange(() => approveProposal(id, true));
  const approval = useChange(
    () => approveProposal(id, false),
    ({ results }) => {
      setOpen(false);
      onApproved(results);
    },
  );
  const error = approval.error ?? dryRun.error;
  const open = () => {
    dryRun.reset();
    approval.reset();
    setOpen(true);
  };
  return (
    <>
      <button type="button" className="main" onClick={open}>
        Approve
      </button>
      <Box title="Approve the changes" role="alertdialog" isOpen={isOpen} onClose={() => setOpen(false)}>
        <p>They are made in one revision, in your name and in that of their author.</p>
        {error && <Failure error={error} what="proposal" />}
        <div role="status">
          {dryRun.data && <p>It is allowed: nobody has changed these properties since, and all rules hold.</p>}
        </div>
        <div className={parts.row}>
          <button type="button" disabled={dryRun.isPending} onClick={() => dryRun.mutate()}>
            Try it first
          </button>
          {dryRun.data && (
            <button type="button" className="main" disabled={approval.isPending} onClick={() => approval.mutate()}>
              Approve them
            </button>
          )}
          <button type="button" onClick={() => setOpen(false)}>
            Cancel
          </button>
        </div>
      </Box>
    </>
  );
}

const kinds = {
  reject: {
    label: "Reject",
    title: "Reject the changes",
    hint: "The author reads it here, and it stands in the audit.",
    isReasonRequired: true,
  },
  withdraw: {
    label: "Withdraw",
    title: "Withdraw the proposal",
    hint: "It may be left out. It stands in the audit.",
    isReasonRequired: false,
  },
} as const;

interface CloseProps {
  readonly id: string;
  readonly kind: keyof typeof kinds;
}

/** Takes back an own proposal, or rejects that of another operator with a reason. */
export function CloseProposal({ id, kind }: CloseProps) {
  const { label, title, hint, isReasonRequired } = kinds[kind];
  const [isOpen, setOpen] = useState(false);
  const [reason, setReason] = useState("");
  const closing = useChange(
    () => withdrawProposal(id, reason.trim()),
    () => setOpen(false),
  );
  return (
    <>
      <button type="button" className="danger" onClick={() => setOpen(true)}>
        {label}
      </button>
      <FormBox
        title={title}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        submitLabel={`${label} it`}
        isDanger
        what="proposal"
        change={closing}
      >
        <p>Nothing changes. The proposal stays in the list with its outcome.</p>
        <Field label="Reason" hint={hint}>
          {(ids) => (
            <input
              {...ids}
              required={isReasonRequired}
              maxLength={1_000}
              value={reason}
              onChange={({ target }) => setReason(target.value)}
            />
          )}
        </Field>
      </FormBox>
    </>
  );
}
