import { ApiError } from "@signalbox/client";
import { type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { Failure } from "./answer.tsx";
import styles from "./parts.module.css";

interface BoxProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly role?: "dialog" | "alertdialog";
  readonly children: ReactNode;
}

/** A dialog: the focus stays in it, Escape closes it, and then the focus is where it was. */
export function Box({ title, isOpen, onClose, role = "dialog", children }: BoxProps) {
  return (
    <ModalOverlay isOpen={isOpen} onOpenChange={(open) => !open && onClose()} className={styles.overlay as string}>
      <Modal className={styles.dialog as string}>
        <Dialog role={role}>
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

interface ActionProps {
  readonly label: string;
  /** The thing that changes, for a refusal. */
  readonly what: string;
  readonly run: () => Promise<unknown>;
  /** A sentence about the consequence; with it the person confirms. */
  readonly confirm?: string;
  readonly kind?: "main" | "danger" | "plain";
  readonly onDone?: () => void;
}

/** A button that changes something: confirmed where it should be, disabled while it runs, its refusal beside it. */
export function Action({ label, what, run, confirm, kind, onDone }: ActionProps) {
  const [isAsking, setAsking] = useState(false);
  const change = useChange(run, () => {
    setAsking(false);
    onDone?.();
  });
  const press = () => (confirm === undefined ? change.mutate() : setAsking(true));
  const failure = change.error && <Failure error={change.error} what={what} />;
  return (
    <>
      <button type="button" className={kind} disabled={change.isPending} onClick={press}>
        {change.isPending ? `${label} …` : label}
      </button>
      {confirm === undefined && failure}
      <Box title={`${label}?`} role="alertdialog" isOpen={isAsking} onClose={() => setAsking(false)}>
        <p>{confirm}</p>
        {failure}
        <div className={styles.row}>
          <button type="button" className={kind ?? "main"} disabled={change.isPending} onClick={() => change.mutate()}>
            {label}
          </button>
          <button type="button" onClick={() => setAsking(false)}>
            Cancel
          </button>
        </div>
      </Box>
    </>
  );
}

/** A change after which everything shown is read again; so it is after a conflict, which shows that something else changed. */
export function useChange<Result, Input = void>(
  run: (input: Input) => Promise<Result>,
  onDone?: (result: Result) => void,
): UseMutationResult<Result, Error, Input> {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: run,
    onSuccess: async (result) => {
      onDone?.(result);
      await queries.invalidateQueries();
    },
    onError: async (error) => {
      if (error instanceof ApiError && [409, 412].includes(error.status)) await queries.invalidateQueries();
    },
  });
}
