import { type ReactNode, useId, useLayoutEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { dropDraftsHere } from "../session/drafts.ts";
import { Failure } from "./answer.tsx";
import { Button } from "./button.tsx";
import styles from "./parts.module.css";
import { useChange } from "./use-change.ts";

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

interface ActionProps {
  readonly label: string;
  /** The thing that changes, for a refusal. */
  readonly what: string;
  /** The thing by its name, for the question. */
  readonly name?: string | undefined;
  /** The question, where the label and the thing do not make one. */
  readonly title?: string;
  readonly run: () => Promise<unknown>;
  /** A sentence about the consequence; with it the person confirms. */
  readonly confirm?: string;
  readonly kind?: "main" | "danger" | "plain";
  readonly onDone?: () => void;
  /** The word for leaving it as it is, where "Cancel" would say the opposite. */
  readonly dismiss?: string;
}

/** A button that changes something: confirmed where it should be, disabled while it runs, its refusal beside it. */
export function Action({ label, what, name, title, run, confirm, kind, onDone, dismiss = "Cancel" }: ActionProps) {
  const question = title ?? (label.includes(what) ? label : `${label} the ${what}`);
  const [isAsking, setAsking] = useState(false);
  const change = useChange(run, () => {
    setAsking(false);
    if (kind === "danger" && onDone) dropDraftsHere();
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
      <Box
        title={`${question}${name ? ` ${name}` : ""}?`}
        role="alertdialog"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
      >
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
