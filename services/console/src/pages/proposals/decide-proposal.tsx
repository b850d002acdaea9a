import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Box } from "../../parts/dialog.tsx";
import { reasonField } from "../../parts/fields.tsx";
import { FormAction } from "../../parts/form.tsx";
import { TrialForm, useTrial } from "../../parts/trial.tsx";
import type { ChangeResult } from "../properties/property-change.ts";
import { approveProposal, withdrawProposal } from "../properties/proposal.ts";

interface ApproveProps {
  readonly id: string;
  readonly onApproved: (results: readonly ChangeResult[]) => void;
}

/** Approves the changes of another operator: tried first, then made. */
export function ApproveProposal({ id, onApproved }: ApproveProps) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const trial = useTrial(
    () => approveProposal(id, true),
    () => approveProposal(id, false),
    ({ results }) => {
      close();
      onApproved(results);
    },
  );
  const open = () => {
    trial.reset();
    setOpen(true);
  };
  return (
    <>
      <Button label="Approve" className="main" onClick={open} />
      <Box title="Approve the changes" role="alertdialog" isOpen={isOpen} onClose={close}>
        <TrialForm
          trial={{ ...trial, hasChanged: false }}
          what="proposal"
          makeLabel="Approve them"
          onMake={trial.make}
          preview={trial.tried && <p>Allowed: nobody has changed these properties since, and all rules hold.</p>}
          beside={<Button label="Cancel" onClick={close} />}
        >
          <p>They are made in one revision, in your name and the author's.</p>
        </TrialForm>
      </Box>
    </>
  );
}

const kinds = {
  reject: {
    label: "Reject",
    title: "Reject the changes",
    hint: "Shown to the author here, and in the audit.",
    isReasonRequired: true,
  },
  withdraw: {
    label: "Withdraw",
    title: "Withdraw the proposal",
    hint: "Optional. Shown in the audit.",
    isReasonRequired: false,
  },
} as const;

/** Takes back an own proposal, or rejects that of another operator with a reason. */
export function CloseProposal({ id, kind }: { readonly id: string; readonly kind: keyof typeof kinds }) {
  const { label, title, hint, isReasonRequired } = kinds[kind];
  return (
    <FormAction
      label={label}
      title={title}
      submitLabel={`${label} it`}
      isDanger
      what="proposal"
      initial={{ reason: "" }}
      fields={{ reason: reasonField(hint, 1_000, isReasonRequired) }}
      run={({ reason }) => withdrawProposal(id, reason.trim())}
    >
      <p>Nothing changes. The proposal stays in the list with its outcome.</p>
    </FormAction>
  );
}
