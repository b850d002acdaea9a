import { Time } from "../../parts/inline.tsx";
import { Field } from "../../parts/lists.tsx";
import parts from "../../parts/parts.module.css";
import type { Endpoint } from "../webhooks.ts";
import type { EndpointInput } from "./endpoint-input.ts";
import { NamedTexts } from "./named-texts.tsx";

interface MoreProps {
  readonly input: EndpointInput;
  readonly set: (changed: Partial<EndpointInput>) => void;
  readonly present?: Endpoint;
}

/** The fields of an endpoint that few need: its rate, its own headers and texts, and the certificate that it is shown. */
export function MoreEndpointFields({ input, set, present }: MoreProps) {
  const { rateLimit, rateSeconds, headers, metadata } = input;
  return (
    <>
      <div className={parts.fields}>
        <Field label="Deliveries at most" hint="Empty: as fast as the receiver takes them.">
          {(ids) => (
            <input
              {...ids}
              inputMode="numeric"
              value={rateLimit}
              onChange={({ target }) => set({ rateLimit: target.value })}
            />
          )}
        </Field>
        <Field label="In seconds" hint="The period of that number, evenly spread.">
          {(ids) => (
            <input
              {...ids}
              inputMode="numeric"
              value={rateSeconds}
              onChange={({ target }) => set({ rateSeconds: target.value })}
            />
          )}
        </Field>
      </div>
      <NamedTexts
        legend="Headers of every delivery"
        noun="header"
        max={10}
        hasSecrets
        rows={headers}
        change={(rows) => set({ headers: rows })}
      />
      <NamedTexts
        legend="Metadata, for you alone"
        noun="text"
        max={20}
        rows={metadata}
        change={(rows) => set({ metadata: rows })}
      />
      {present?.type !== "pull" && <Certificate input={input} set={set} {...(present && { present })} />}
    </>
  );
}

/** The certificate by which a receiver recognizes this deployment (mutual TLS). Its key is never shown. */
function Certificate({ input, set, present }: MoreProps) {
  const shown = present?.settings.client_certificate ?? null;
  return (
    <fieldset className={parts.page}>
      <legend>
        <strong>Client certificate</strong>
      </legend>
      {shown && (
        <>
          <p>
            In use: {shown.subject}, which ends <Time at={shown.expires_at} />. SHA-256 <code>{shown.fingerprint}</code>
          </p>
          <label className={parts.check}>
            <input
              type="checkbox"
              checked={input.isWithoutCertificate}
              onChange={({ target }) => set({ isWithoutCertificate: target.checked })}
            />
            Take it away
          </label>
        </>
      )}
      <Field label="Certificate with its chain" hint={shown ? "PEM. Empty: the one in use stays." : "PEM."}>
        {(ids) => (
          <textarea
            {...ids}
            rows={3}
            spellCheck={false}
            value={input.certificate}
            onChange={({ target }) => set({ certificate: target.value })}
          />
        )}
      </Field>
      <Field label="Private key" hint="PEM without a passphrase. It is never shown again.">
        {(ids) => (
          <textarea
            {...ids}
            rows={3}
            spellCheck={false}
            autoComplete="off"
            value={input.certificateKey}
            onChange={({ target }) => set({ certificateKey: target.value })}
          />
        )}
      </Field>
    </fieldset>
  );
}
