import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { ChangeForm, useChange } from "./dialog.tsx";
import parts from "./parts.module.css";

/** The ways out of a form that makes something. */
export interface CreateProps<Made> {
  readonly onDone: (made: Made) => void;
  readonly onCancel: () => void;
}

interface CreateFormProps<Made> extends CreateProps<Made> {
  readonly title: string;
  /** The thing that is made, for a refusal. */
  readonly what: string;
  /** The word of its button. */
  readonly action: string;
  /** Makes it. Ends are reckoned from the opening of the form, so that a second press has the same content. */
  readonly create: (openedMs: number) => Promise<Made>;
  readonly children: ReactNode;
}

/** The form that makes something: its fields, its refusal, and the way out. */
export function CreateForm<Made>({ title, what, action, create, onDone, onCancel, children }: CreateFormProps<Made>) {
  const [openedMs] = useState(Date.now);
  const creation = useChange(async () => create(openedMs), onDone);
  return (
    <ChangeForm
      change={creation}
      what={what}
      submitLabel={action}
      kind="main"
      className={parts.panel}
      label={title}
      beside={<Button label="Cancel" onClick={onCancel} />}
    >
      <h2>{title}</h2>
      {children}
    </ChangeForm>
  );
}
