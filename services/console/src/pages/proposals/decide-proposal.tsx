import { useState } from "react";
import { Failure } from "../../parts/answer.tsx";
import { Button } from "../../parts/button.tsx";
import { Box, FormAction, useChange } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/fields.tsx";
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
      <Button label="Approve" className="main" onClick={open} />
      <Box title="Approve the changes" role="alertdialog" isOpen={isOpen} onClose={() => setOpen(false)}>
        <p>They are made in one revision, in your name and in that of their author.</p>
        {error && <Failure error={error} what="proposal" />}
        <div role="status">
          {dryRun.data && <p>It is allowed: nobody has changed these properties since, and all rules hold.</p>}
        </div>
        <div className={parts.row}>
          <Button label="Try it first" change={dryRun} />
          {dryRun.data && <Button label="Approve them" className="main" change={approval} />}
          <Button label="Cancel" onClick={() => setOpen(false)} />
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

/** Takes back an own proposal, or rejects that of another operator with a reason. */
export function CloseProposal({ id, kind }: { readonly id: string; readonly kind: keyof typeof kinds }) {
  const { label, title, hint, isReasonRequired } = kinds[kind];
  const [reason, setReason] = useState("");
  return (
    <FormAction
      label={label}
      title={title}
      submitLabel={`${label} it`}
      isDanger
      what="proposal"
      run={() => withdrawProposal(id, reason.trim())}
    >
      <p>Nothing changes. The proposal stays in the list with its outcome.</p>
      <TextField
        label="Reason"
        hint={hint}
        required={isReasonRequired}
        maxLength={1_000}
        value={reason}
        set={setReason}
      />
    </FormAction>
  );
}
