import { Button } from "../../parts/button.tsx";
import parts from "../../parts/parts.module.css";
import styles from "./endpoint.module.css";
import type { NamedText } from "./endpoint-input.ts";

interface NamedTextsProps {
  readonly legend: string;
  readonly noun: string;
  readonly max: number;
  /** True where a value may be hidden. */
  readonly hasSecrets?: boolean;
  readonly rows: readonly NamedText[];
  readonly change: (rows: readonly NamedText[]) => void;
}

/** Names with their values, each in a row that can be added and removed. */
export function NamedTexts({ legend, noun, max, hasSecrets = false, rows, change }: NamedTextsProps) {
  const set = (at: number, changed: Partial<NamedText>) =>
    change(rows.map((row, index) => (index === at ? { ...row, ...changed } : row)));
  return (
    <fieldset className={parts.page}>
      <legend>
        <strong>{legend}</strong>
      </legend>
      {rows.map((row, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: Rows have no other identity while their names are typed.
        <div key={at} className={`${parts.row} ${styles.named}`}>
          <input
            aria-label={`Name of ${noun} ${at + 1}`}
            placeholder="Name"
            spellCheck={false}
            value={row.name}
            onChange={({ target }) => set(at, { name: target.value })}
          />
          <input
            aria-label={`Value of ${noun} ${at + 1}`}
            placeholder={row.secret ? "Empty: as it was" : "Value"}
            type={row.secret ? "password" : "text"}
            autoComplete="off"
            spellCheck={false}
            value={row.value}
            onChange={({ target }) => set(at, { value: target.value })}
          />
          {hasSecrets && (
            <label className={parts.check}>
              <input
                type="checkbox"
                checked={row.secret}
                onChange={({ target }) => set(at, { secret: target.checked })}
              />
              hidden
            </label>
          )}
          <Button
            label="Remove"
            aria-label={`Remove ${noun} ${at + 1}`}
            onClick={() => change(rows.filter((_, index) => index !== at))}
          />
        </div>
      ))}
      {rows.length < max && (
        <div>
          <Button label={`Add a ${noun}`} onClick={() => change([...rows, { name: "", value: "", secret: false }])} />
        </div>
      )}
    </fieldset>
  );
}
