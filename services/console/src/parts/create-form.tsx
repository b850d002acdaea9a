import { type FormEvent, type ReactNode, useState } from "react";
import { Failure } from "./answer.tsx";
import { useChange } from "./dialog.tsx";
import parts from "./parts.module.css";

interface CreateFormProps<Made> {
  readonly title: string;
  /** The thing that is made, for a refusal. */
  readonly what: string;
  /** The word of its button. */
  readonly action: string;
  /** Makes it. The key is the same for the same form: a second press after a lost answer makes no second one. */
  readonly create: (idempotencyKey: string) => Promise<Made>;
  readonly onDone: (made: Made) => void;
  readonly onCancel: () => void;
  readonly children: ReactNode;
}

/** The form that makes something: its fields, its refusal, and the way out. */
export function CreateForm<Made>({ title, what, action, create, onDone, onCancel, children }: CreateFormProps<Made>) {
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const creation = useChange(async () => create(idempotencyKey), onDone);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    creation.mutate();
  };
  return (
    <form className={parts.panel} onSubmit={submit} aria-label={title}>
      <h2>{title}</h2>
      {children}
      {creation.error && <Failure error={creation.error} what={what} />}
      <div className={parts.row}>
        <button type="submit" className="main" disabled={creation.isPending}>
          {action}
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
