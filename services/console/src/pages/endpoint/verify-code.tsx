import { useState } from "react";
import page from "../../../../../docs/how-to/verify-deliveries.md?raw";
import { Choice } from "../../parts/choice.tsx";
import { Code } from "../../parts/inline.tsx";
import { Panel } from "../../parts/page.tsx";

/** The samples of the how-to page, which its test runs; one copy for both. */
const samples = [
  { name: "Node", fence: "ts" },
  { name: "Python", fence: "python" },
  { name: "Go", fence: "go" },
].map(({ name, fence }) => {
  const [, code = ""] = new RegExp(`\`\`\`${fence}\\n([\\s\\S]*?)\`\`\``).exec(page) ?? [];
  return { name, code };
});

/** Code that verifies a delivery. The secret is a variable of the environment, so a copy of it leaks nothing. */
export function VerifyCode() {
  const [language, setLanguage] = useState("Node");
  const { code = "" } = samples.find(({ name }) => name === language) ?? {};
  return (
    <Panel title="Verify deliveries">
      <p>
        Give it the secret of this endpoint, <code>whsec_••••••••</code>, from the environment of your receiver, the
        headers in lower case, and the body as bytes before anything parses it.
      </p>
      <Choice label="Language" choices={samples.map(({ name }) => name)} chosen={language} choose={setLanguage} />
      <Code text={code} label={`code in ${language}`} />
    </Panel>
  );
}
