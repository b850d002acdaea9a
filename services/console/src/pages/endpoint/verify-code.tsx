import { useState } from "react";
import { code } from "../../../../../docs/how-to/verify-deliveries.md?code";
import { Choice } from "../../parts/button.tsx";
import { Code } from "../../parts/code.tsx";
import { Panel } from "../../parts/page.tsx";

/** Languages, as the code blocks of the how-to page call them. */
const languages = { Node: "ts", Python: "python", Go: "go" } as const;
type Language = keyof typeof languages;
const names = Object.keys(languages) as Language[];

/** Code that verifies a delivery. The secret is a variable of the environment, so a copy of it leaks nothing. */
export function VerifyCode() {
  const [language, setLanguage] = useState<Language>("Node");
  return (
    <Panel title="Verify deliveries">
      <p>
        Give it the secret of this endpoint, <code>whsec_••••••••</code>, from the environment of your receiver, the
        headers in lower case, and the body as bytes before anything parses it.
      </p>
      <Choice label="Language" choices={names} chosen={language} choose={setLanguage} />
      <Code text={code[languages[language]] ?? ""} label={`code in ${language}`} />
    </Panel>
  );
}
