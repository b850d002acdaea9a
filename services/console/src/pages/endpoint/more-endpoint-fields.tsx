import { CheckField, fieldsOf, type InputProps, TextArea, TextField } from "../../parts/fields.tsx";
import { Time } from "../../parts/inline.tsx";
import parts from "../../parts/parts.module.css";
import { useIsPortal } from "../../session/api.ts";
import type { Endpoint } from "../webhooks.ts";
import type { EndpointInput } from "./endpoint-input.ts";
import { NamedTexts } from "./named-texts.tsx";

interface MoreProps extends InputProps<EndpointInput> {
  readonly present?: Endpoint;
}

/** The fields of an endpoint that few need: its rate, its own headers and texts, and the certificate that it is shown. */
export function MoreEndpointFields({ input, set, present }: MoreProps) {
  const field = fieldsOf(input, set);
  const isPortal = useIsPortal();
  return (
    <>
      <div className={parts.fields}>
        <TextField
          label="Deliveries at most"
          hint="Empty: as fast as the receiver takes them."
          inputMode="numeric"
          {...field("rateLimit")}
        />
        <TextField
          label="In seconds"
          hint="The period of that number, evenly spread."
          inputMode="numeric"
          {...field("rateSeconds")}
        />
      </div>
      {!isPortal && (
        <>
          <NamedTexts
            legend="Headers of every delivery"
            noun="header"
            max={10}
            hasSecrets
            rows={input.headers}
            change={(rows) => set({ headers: rows })}
          />
          <NamedTexts
            legend="Metadata, for you alone"
            noun="text"
            max={20}
            rows={input.metadata}
            change={(rows) => set({ metadata: rows })}
          />
        </>
      )}
      {present?.type !== "pull" && <Certificate input={input} set={set} {...(present && { present })} />}
    </>
  );
}

/** The certificate by which a receiver recognizes this deployment (mutual TLS). Its key is never shown. */
function Certificate({ input, set, present }: MoreProps) {
  const shown = present?.settings.client_certificate ?? null;
  const field = fieldsOf(input, set);
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
          <CheckField label="Take it away" {...field("isWithoutCertificate")} />
        </>
      )}
      <TextArea
        label="Certificate with its chain"
        hint={shown ? "PEM. Empty: the one in use stays." : "PEM."}
        rows={3}
        spellCheck={false}
        {...field("certificate")}
      />
      <TextArea
        label="Private key"
        hint="PEM without a passphrase. It is never shown again."
        rows={3}
        spellCheck={false}
        autoComplete="off"
        {...field("certificateKey")}
      />
    </fieldset>
  );
}
