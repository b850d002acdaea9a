import type { WebhookPresetInFull } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { Answer } from "../../parts/answer.tsx";
import { Copy, Prose } from "../../parts/inline.tsx";
import { Curl, useFilters } from "../../parts/lists.tsx";
import { Page, Pairs, Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, useMay } from "../../session/api.ts";
import { SourceLink } from "../links.tsx";
import { OtherSecret } from "../source/source-secrets.tsx";
import { type Source, sourceQuery } from "../sources.ts";
import styles from "./connect.module.css";
import { FirstCall } from "./first-call.tsx";
import { NewSource } from "./new-source.tsx";

/** The guide of one sender: the source, what to enter over there, and the first call. The address keeps the place. */
export function GuidePage() {
  const { preset: name } = useParams({ from: "/webhooks/connect/$preset" });
  const preset = useQuery({
    queryKey: ["preset", name],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => (name === "other" ? null : api.webhookPresets.get(name)),
  });
  const title = name === "other" ? "another sender" : (preset.data?.title ?? name);
  return (
    <Page title={`Connect ${title}`} actions={<Link to="/webhooks/connect">Other senders</Link>}>
      <Answer query={preset} what="sender">
        {(found) => <Steps preset={found} />}
      </Answer>
      <Curl path={name === "other" ? "api/v1/webhooks/sources" : `api/v1/webhooks/presets/${name}`} />
    </Page>
  );
}

/** Entries of the form before; a reload forgets them. */
interface Entered {
  readonly id: string;
  /** The secret to enter at the sender, where it was made here. */
  readonly secret: string | null;
}

function Steps({ preset }: { readonly preset: WebhookPresetInFull | null }) {
  const [{ source: id, later }] = useFilters();
  const navigate = useNavigate();
  const mayWrite = useMay("webhooks:write");
  const [entered, setEntered] = useState<Entered | null>(null);
  if (!mayWrite)
    return (
      <p>
        Your permissions do not allow you to create sources. Ask an administrator of your account for webhooks:write.
      </p>
    );
  if (!id)
    return (
      <>
        <Panel title="1. Create the address">
          <NewSource
            preset={preset}
            onDone={(source, secret, isLater) => {
              setEntered({ id: source.id, secret });
              void navigate({
                to: ".",
                search: { source: source.id, ...(isLater && { later: "yes" }) },
                replace: true,
              });
            }}
          />
        </Panel>
        <Over title="2. Set up the sender" preset={preset} />
      </>
    );
  return <AtSender id={id} preset={preset} entered={entered?.id === id ? entered : null} isLater={!!later} />;
}

interface AtSenderProps {
  readonly id: string;
  readonly preset: WebhookPresetInFull | null;
  readonly entered: Entered | null;
  readonly isLater: boolean;
}

function AtSender({ id, preset, entered, isLater }: AtSenderProps) {
  const source = useQuery(sourceQuery(id));
  return (
    <Answer query={source} what="source">
      {({ data }) => (
        <>
          <Panel title="1. Address" actions={<SourceLink id={id}>View source</SourceLink>}>
            <ToPaste source={data} entered={entered} isLater={isLater} />
          </Panel>
          <Over title={`2. Set up ${preset?.title ?? "the sender"}`} preset={preset} />
          {isLater && (
            <Panel title="3. Secret">
              <p>
                <Prose
                  text={preset ? `Where to find it: ${preset.secret}.` : "The sender shows it with the webhook."}
                />
              </p>
              <OtherSecret sourceId={id} />
            </Panel>
          )}
          <FirstCall source={data} sender={preset?.title ?? "the sender"} number={isLater ? 4 : 3} />
        </>
      )}
    </Answer>
  );
}

interface ToPasteProps {
  readonly source: Source;
  readonly entered: Entered | null;
  readonly isLater: boolean;
}

const ToPaste = ({ source: { ingest_url }, entered, isLater }: ToPasteProps) => (
  <>
    <p className={parts.row}>
      Address: <code>{ingest_url}</code> <Copy text={ingest_url}>Copy the address</Copy>
    </p>
    {entered?.secret && (
      <>
        <p className={parts.row}>
          Secret: <code>{entered.secret}</code> <Copy text={entered.secret}>Copy the secret</Copy>
        </p>
        <p className={parts.quiet}>It is shown only once, until you leave this page.</p>
      </>
    )}
    {entered === null && !isLater && (
      <p className={parts.quiet}>
        The secret is not shown again. If it is lost, rotate it at the source and enter the new one at the sender.
      </p>
    )}
  </>
);

/** Steps at the sender, with its traps. */
function Over({ title, preset }: { readonly title: string; readonly preset: WebhookPresetInFull | null }) {
  if (preset === null)
    return (
      <Panel title={title}>
        <p>Enter the address as the webhook URL, and the same secret. Choose JSON if it asks for a format.</p>
      </Panel>
    );
  const { secret, steps, notes, retries, documentation_url } = preset;
  return (
    <Panel title={title}>
      <ol className={styles.steps}>
        {steps.map((step) => (
          <li key={step}>
            <Prose text={step} />
          </li>
        ))}
      </ol>
      {notes.length > 0 && (
        <>
          <h3>Pitfalls</h3>
          <ul className={styles.steps}>
            {notes.map((note) => (
              <li key={note}>
                <Prose text={note} />
              </li>
            ))}
          </ul>
        </>
      )}
      <Pairs
        items={[
          ["Secret", <Prose key="" text={secret} />],
          ["Retries", <Prose key="" text={retries} />],
          [
            "Documentation",
            <a key="" href={documentation_url} rel="noreferrer" target="_blank">
              {documentation_url}
            </a>,
          ],
        ]}
      />
    </Panel>
  );
}
