import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import page from "../../../../../docs/how-to/verify-deliveries.md?raw";
import { Code } from "../../parts/inline.tsx";
import { Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";

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
  return (
    <Panel title="Verify deliveries">
      <p>
        Give it the secret of this endpoint, <code>whsec_••••••••</code>, from the environment of your receiver, the
        headers in lower case, and the body as bytes before anything parses it.
      </p>
      <Tabs className={parts.tabs as string}>
        <TabList aria-label="Language">
          {samples.map(({ name }) => (
            <Tab key={name} id={name}>
              {name}
            </Tab>
          ))}
        </TabList>
        {samples.map(({ name, code }) => (
          <TabPanel key={name} id={name}>
            <Code text={code} label={`code in ${name}`} />
          </TabPanel>
        ))}
      </Tabs>
    </Panel>
  );
}
