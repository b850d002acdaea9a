import { Link } from "@tanstack/react-router";
import { ChangeForm } from "../../parts/form.tsx";
import { Copy } from "../../parts/inline.tsx";
import { Page, Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { useChange } from "../../parts/use-change.ts";
import { api, dataOf } from "../../session/api.ts";
import { useDraft } from "../../session/drafts.ts";
import { EndpointFields } from "./endpoint-fields.tsx";
import { bodyOf, type EndpointInput, emptyInput, withoutSecrets } from "./endpoint-input.ts";
import { VerifyCode } from "./verify-code.tsx";

/** Adds an endpoint. Its secret is shown once here, with the code that verifies deliveries. */
export function NewEndpointPage() {
  const { draft, keep, drop } = useDraft<EndpointInput>("endpoint", withoutSecrets);
  const input = draft ?? emptyInput;
  const creation = useChange(async () => {
    const body = { ...bodyOf(input), url: input.url.trim() };
    return await dataOf(api.POST("/api/v1/webhooks/endpoints", { body }));
  }, drop);
  if (creation.data) return <Created id={creation.data.id} secret={creation.data.secret} />;
  return (
    <Page title="Add an endpoint">
      <ChangeForm
        change={creation}
        what="endpoint"
        submitLabel="Add the endpoint"
        kind="main"
        className={parts.panel}
        beside={
          <Link to="/webhooks/endpoints" onClick={drop}>
            Cancel
          </Link>
        }
      >
        <EndpointFields input={input} set={(changed) => keep({ ...input, ...changed })} />
      </ChangeForm>
    </Page>
  );
}

const Created = ({ id, secret }: { readonly id: string; readonly secret: string }) => (
  <Page title="The endpoint was added">
    <Panel title="Its secret">
      <p>
        Your receiver verifies deliveries with it. Keep it where your receiver keeps its secrets; you can reveal it
        again later.
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
