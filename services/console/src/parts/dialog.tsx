import { ApiError } from "@signalbox/client";
import { type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useId, useLayoutEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { Failure } from "./answer.tsx";
import { Button } from "./button.tsx";
import styles from "./parts.module.css";

interface BoxProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly role?: "dialog" | "alertdialog";
  readonly children: ReactNode;
}

/** A dialog: the focus stays in it, Escape closes it, and then the focus is where it was. */
export function Box({ isOpen, ...props }: BoxProps) {
  // Below the body: in its place it would inherit the look of a table's cell, and be a form in a form.
  return isOpen && createPortal(<OpenBox {...props} />, document.body);
}

function OpenBox({ title, onClose, role = "dialog", children }: Omit<BoxProps, "isOpen">) {
  const box = useRef<HTMLDialogElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  const titleId = useId();
  useLayoutEffect(() => {
    const dialog = box.current;
    const listening = new AbortController();
    const leave = (event: Event) => {
      event.preventDefault();
      close.current();
    };
    // A browser may close without asking, such as at a second Escape.
    for (const name of ["cancel", "close"]) dialog?.addEventListener(name, leave, { signal: listening.signal });
    dialog?.showModal();
    // Not on the first button, which may delete: a screen reader says the title, and Tab goes on from there.
    dialog?.focus();
    return () => {
      listening.abort();
      // Gives the focus back, which taking the element away would not.
      dialog?.close();
    };
  }, []);
  return (
    <dialog ref={box} role={role} aria-labelledby={titleId} tabIndex={-1} className={styles.dialog}>
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  );
}

/** What a form does when it is submitted. */
interface Change {
  readonly mutate: () => void;
  readonly error: Error | null;
  readonly isPending: boolean;
}

interface ChangeFormProps {
  readonly change: Change;
  /** The thing that changes, for a refusal. */
  readonly what: string;
  /** The words of the button that does it. */
  readonly submitLabel: string;
  readonly kind?: "main" | "danger";
  /** False until the person has typed what makes it possible. */
  readonly isReady?: boolean;
  readonly className?: string | undefined;
  readonly label?: string;
  /** Shown beside the button, such as a way out. */
  readonly beside?: ReactNode;
  readonly children: ReactNode;
}

/** A form that changes something: its fields, the refusal, and the button that does it. */
export function ChangeForm(props: ChangeFormProps) {
  const { change, what, submitLabel, kind, isReady = true, className = styles.page, label, beside, children } = props;
  return (
    <form className={className} onSubmit={submits(() => isReady && change.mutate())} aria-label={label}>
      {children}
      {change.error && <Failure error={change.error} what={what} />}
      <div className={styles.row}>
        <button type="submit" className={kind} disabled={!isReady || change.isPending}>
          {submitLabel}
        </button>
        {beside}
      </div>
    </form>
  );
}

/** Handles the submission of a form. */
export const submits = (act: () => void) => (event: FormEvent) => {
  event.preventDefault();
  act();
};

interface FormActionProps<Result> extends Pick<ChangeFormProps, "what" | "submitLabel" | "isReady" | "children"> {
  /** The words of the button that opens the dialog. */
  readonly label: string;
  readonly buttonLabel?: string;
  readonly isDisabled?: boolean;
  readonly title: string;
  /** Gives something up, so that the buttons and the dialog warn. */
  readonly isDanger?: boolean;
  readonly run: () => Promise<Result>;
  readonly onDone?: (result: Result) => void;
  /** Prepares the form anew. Without it, what was typed and refused stays. */
  readonly onOpen?: () => void;
  readonly onClose?: () => void;
}

/** A button with the dialog of a form: its fields, the refusal, the button that does it, and one that leaves it. */
export function FormAction<Result>(props: FormActionProps<Result>) {
  const { label, buttonLabel, isDisabled, title, isDanger = false, run, onDone, onOpen, onClose, ...form } = props;
  const [isOpen, setOpen] = useState(false);
  const close = () => {
    setOpen(false);
    onClose?.();
  };
  const change = useChange(run, (result: Result) => {
    close();
    onDone?.(result);
  });
  const open = () => {
    if (onOpen) change.reset();
    onOpen?.();
    setOpen(true);
  };
  return (
    <>
      <Button
        label={label}
        className={isDanger ? "danger" : undefined}
        disabled={isDisabled}
        aria-label={buttonLabel}
        onClick={open}
      />
      <Box title={title} role={isDanger ? "alertdialog" : "dialog"} isOpen={isOpen} onClose={close}>
        <ChangeForm
          {...form}
          change={change}
          kind={isDanger ? "danger" : "main"}
          beside={<Button label="Cancel" onClick={close} />}
        />
      </Box>
    </>
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
  /** The word for leaving it as it is, where "Cancel" would say the opposite. */
  readonly dismiss?: string;
}

/** A button that changes something: confirmed where it should be, disabled while it runs, its refusal beside it. */
export function Action({ label, what, run, confirm, kind, onDone, dismiss = "Cancel" }: ActionProps) {
  const [isAsking, setAsking] = useState(false);
  const change = useChange(run, () => {
    setAsking(false);
    onDone?.();
  });
  const press = () => (confirm === undefined ? change.mutate() : setAsking(true));
  const failure = change.error && <Failure error={change.error} what={what} />;
  return (
    <>
      <Button
        label={change.isPending ? `${label} …` : label}
        className={kind}
        disabled={change.isPending}
        onClick={press}
      />
      {confirm === undefined && failure}
      <Box title={`${label}?`} role="alertdialog" isOpen={isAsking} onClose={() => setAsking(false)}>
        <p>{confirm}</p>
        {failure}
        <div className={styles.row}>
          <Button label={label} className={kind ?? "main"} change={change} />
          <Button label={dismiss} onClick={() => setAsking(false)} />
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

interface UndoProps<Result> {
  /** The thing that was changed, for a refusal. */
  readonly what: string;
  readonly run: () => Promise<Result>;
  readonly onDone: (result: Result) => void;
}

/** A button that takes back the change that was just made. */
export function Undo<Result>({ what, run, onDone }: UndoProps<Result>) {
  const undo = useChange(run, onDone);
  return (
    <>
      {undo.error && <Failure error={undo.error} what={what} />}
      <div>
        <Button label="Undo" change={undo} />
      </div>
    </>
  );
}
