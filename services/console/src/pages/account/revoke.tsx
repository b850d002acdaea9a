import { useState } from "react";
import { Failure } from "../../parts/answer.tsx";
import { Box, useChange } from "../../parts/dialog.tsx";
import parts from "../../parts/parts.module.css";
import type { CredentialKind } from "./credential-kinds.ts";

interface RevokeProps {
  readonly kind: CredentialKind;
  readonly id: string;
  readonly name: string;
}

/** Revokes a credential. What it has made goes on, unless the person ends that too. */
export function Revoke({ kind, id, name }: RevokeProps) {
  const [isOpen, setOpen] = useState(false);
  const [isWithCreated, setWithCreated] = useState(false);
  const revocation = useChange(
    () => kind.revoke(id, isWithCreated),
    () => setOpen(false),
  );
  return (
    <>
      <button type="button" className="danger" onClick={() => setOpen(true)}>
        Revoke
      </button>
      <Box title={`Revoke the ${kind.noun}?`} role="alertdialog" isOpen={isOpen} onClose={() => setOpen(false)}>
        <p>{name} stops working everywhere within two seconds. This cannot be undone.</p>
        <label className={parts.check}>
          <input type="checkbox" checked={isWithCreated} onChange={({ target }) => setWithCreated(target.checked)} />
          Revoke also the keys and clients that it made, directly or through others
        </label>
        {revocation.error && <Failure error={revocation.error} what={kind.noun} />}
        <div className={parts.row}>
          <button type="button" className="danger" disabled={revocation.isPending} onClick={() => revocation.mutate()}>
            Revoke
          </button>
          <button type="button" onClick={() => setOpen(false)}>
            Cancel
          </button>
        </div>
      </Box>
    </>
  );
}
