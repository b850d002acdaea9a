import { useState } from "react";
import { indentJson, visibleText } from "./indent-json.ts";
import { Copy } from "./inline.tsx";
import styles from "./parts.module.css";

/** The longest text that a page lays out; the rest is one click away. */
const shownMax = 20_000;

interface CodeProps {
  readonly text: string;
  readonly label: string;
  /** True where the page has a button of its own that copies it. */
  readonly isPlain?: boolean;
}

/** A text as it was sent, such as a body; JSON is indented. */
export function Code({ text, label, isPlain = false }: CodeProps) {
  const [isWhole, setWhole] = useState(false);
  const whole = visibleText(indentJson(text));
  const shown = isWhole ? whole : whole.slice(0, shownMax);
  return (
    <div>
      <section
        className={styles.code}
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: A keyboard scrolls it only when it has the focus.
        tabIndex={0}
      >
        <pre>{shown}</pre>
      </section>
      <div className={styles.row}>
        {!isPlain && (
          <Copy text={text} label={`Copy ${label}`} className="plain">
            Copy
          </Copy>
        )}
        {shown.length < whole.length && (
          <button type="button" className="plain" onClick={() => setWhole(true)}>
            Show all {whole.length.toLocaleString()} characters
          </button>
        )}
      </div>
    </div>
  );
}
