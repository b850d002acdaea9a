import type { ComponentProps } from "react";

interface ButtonProps extends Omit<ComponentProps<"button">, "type" | "children"> {
  readonly label: string;
  /** Made by a press; the button is disabled while it runs. */
  readonly change?: { readonly isPending: boolean; readonly mutate: () => void };
}

/** A button that submits no form. */
export const Button = ({ label, change, ...button }: ButtonProps) => (
  <button type="button" disabled={change?.isPending} onClick={change && (() => change.mutate())} {...button}>
    {label}
  </button>
);
