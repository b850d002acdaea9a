import type { WebhookRejectionInFull } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { Code } from "../../parts/code.tsx";
import { copied, Time } from "../../parts/inline.tsx";
import { OnePage, Pairs, Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api } from "../../session/api.ts";
import { headerLines } from "../header-lines.ts";
import { SourceLink, VerifyLink } from "../links.tsx";
import { textOfBase64 } from "../received/body-text.ts";
import { Mend } from "./mend.tsx";

/** One refused webhook: the reason in words and figures, the way out of it, and what came. */
export function OneRejectionPage() {
  const { id, ref } = useParams({ from: "/webhooks/sources/$id/rejections/$ref" });
  const rejection = useQuery({ queryKey: ["rejection", id, ref], queryFn: () => api.rejectedWebhooks.get(id, ref) });
  return (
    <OnePage
      title="Rejected webhook"
      actions={
        <>
          <VerifyLink id={id}>Verify a webhook</VerifyLink>
          <SourceLink id={id}>The source</SourceLink>
        </>
      }
      query={rejection}
      what="rejection"
      path={`api/v1/webhooks/sources/${id}/rejections/${ref}`}
    >
      {(found) => (
        <>
          <Mend sourceId={id} rejection={found} />
          <Facts rejection={found} />
          <Content rejection={found} />
        </>
      )}
    </OnePage>
  );
}

function Facts({ rejection }: { readonly rejection: WebhookRejectionInFull }) {
  const { id, reason, status, address, body_bytes, signed_at, rejected_at } = rejection;
  return (
    <Panel title="Details">
      <Pairs
        items={[
          ["Rejected", <Time key="" at={rejected_at} />],
          ["Id", copied(id)],
          ["Reason", reason],
          ["Response", `HTTP ${status}`],
          ["From", address],
          ["Body", `${body_bytes.toLocaleString()} bytes`],
          ["Signed", signed_at ? <Time key="" at={signed_at} /> : "no timestamp was read"],
        ]}
      />
    </Panel>
  );
}

function Content({ rejection: { headers, body_base64 } }: { readonly rejection: WebhookRejectionInFull }) {
  if (headers === null)
    return (
      <Panel title="Request">
        <p>It was not stored. “Keep rejected webhooks” on the source keeps the next ones.</p>
      </Panel>
    );
  const { text, isText } = textOfBase64(body_base64 ?? "");
  return (
    <div className={parts.sides}>
      <Panel title="Headers">
        <Code text={headerLines(headers)} label="received headers" />
        <p className={parts.quiet}>Signatures and credentials are masked.</p>
      </Panel>
      <Panel title="Body, first 4 KiB">
        {!isText && <p>These bytes are not UTF-8 text; they are shown in base64.</p>}
        {text === "" ? <p>It had no body.</p> : <Code text={text} label="received body" />}
      </Panel>
    </div>
  );
}
