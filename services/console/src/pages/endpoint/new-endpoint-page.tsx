import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Form } from "../../parts/form.tsx";
import { Copy } from "../../parts/inline.tsx";
import { Page, Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api } from "../../session/api.ts";
import { dropDraftsHere } from "../../session/drafts.ts";
import { EndpointFields } from "./endpoint-fields.tsx";
import { bodyOf, emptyInput, withoutSecrets } from "./endpoint-input.ts";
import { VerifyCode } from "./verify-code.tsx";

/** Adds an endpoint. Its secret is shown once here, with the code that verifies deliveries. */
export function NewEndpointPage() {
  const [created, setCreated] = useState<CreatedProps | null>(null);
  if (created) return <Created {...created} />;
  return (
    <Page title="Add an endpoint">
      <Form
        what="endpoint"
        submitLabel="Add the endpoint"
        kind="main"
        className={parts.panel}
        initial={emptyInput}
        withoutSecrets={withoutSecrets}
        run={(input) => api.webhookEndpoints.create({ ...bodyOf(input), url: input.url.trim() })}
        onDone={setCreated}
        beside={
          <Link to="/webhooks/endpoints" onClick={dropDraftsHere}>
            Cancel
          </Link>
        }
      >
        {(form) => <EndpointFields {...form} />}
      </Form>
    </Page>
  );
}

interface CreatedProps {
  readonly id: string;
  readonly secret: string;
}

const Created = ({ id, secret }: CreatedProps) => (
  <Page title="The endpoint was added">
    <Panel title="Signing secret">
      <p>
        Your receiver verifies deliveries with it. Store it with your receiver's other secrets; you can reveal it again
        later.
      </p>
      <p>
        <code>{secret}</code>
      </p>
      <div className={parts.row}>
        <Copy text={secret}>Copy the secret</Copy>
        <Link to="/webhooks/endpoints/$id" params={{ id }} className="main">
          Go to the endpoint
        </Link>
      </div>
    </Panel>
    <VerifyCode />
  </Page>
);
