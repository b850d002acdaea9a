import type { InputProps } from "../../parts/fields.tsx";
import { Fields, type FieldsData } from "../../parts/form.tsx";
import { Time } from "../../parts/inline.tsx";
import parts from "../../parts/parts.module.css";
import { Group, RowList } from "../../parts/row-list.tsx";
import { useChoosesEvents, useIsPortal, useMay } from "../../session/api.ts";
import type { Endpoint } from "../webhooks.ts";
import { blankText, type EndpointInput } from "./endpoint-input.ts";

interface FieldsProps extends InputProps<EndpointInput> {
  /** The endpoint as it is, for one that is edited. */
  readonly present?: Endpoint;
}

/** The fields of an endpoint, for a new one and for one that is edited. */
export function EndpointFields({ present, ...form }: FieldsProps) {
  const isPortal = useIsPortal();
  const choosesEvents = useChoosesEvents();
  const mayMove = useMay("account:security") || !isPortal;
  const first: FieldsData<EndpointInput> = {
    url: {
      label: "Receiver URL",
      hint: mayMove ? "https, reachable from this deployment." : "This link cannot change it.",
      type: "url",
      required: true,
      readOnly: !mayMove,
    },
    description: { label: "Description", hint: "For people; receivers do not see it.", isProse: true },
    eventTypes: {
      label: "Event types",
      hint: choosesEvents
        ? "One per line. image.* matches every type that begins with image., and * matches every type."
        : "Set by those who gave you this link.",
      rows: 3,
      required: true,
      readOnly: !choosesEvents,
    },
  };
  return (
    <>
      <Fields {...form} fields={first} />
      <details>
        <summary>Filter and settings</summary>
        <div className={parts.page}>
          <Fields {...form} fields={{ filter: { ...filter, readOnly: !choosesEvents }, ...settings }} />
        </div>
      </details>
      <details>
        <summary>{isPortal ? "Rate and client certificate" : "Rate, headers, metadata and client certificate"}</summary>
        <div className={parts.page}>
          <Fields {...form} fields={{ ...rate, ...(isPortal ? {} : named) }} />
          {present?.type !== "pull" && <Certificate {...form} {...(present && { present })} />}
        </div>
      </details>
    </>
  );
}

const filter = {
  label: "Filter",
  hint: "A JSON object that the data of an event has to match. Empty: every event of the types above.",
  rows: 5,
};

const settings: FieldsData<EndpointInput> = {
  format: {
    label: "Format",
    hint: "envelope has the id and the type around the data; original is the body as it was received.",
    choices: ["envelope", "original"],
  },
  ordered: { label: "Keep the order of events with the same key" },
  timeoutSeconds: {
    label: "Timeout in seconds",
    hint: "Empty: the service's value.",
    inputMode: "numeric",
  },
  maxInFlight: {
    label: "Concurrency",
    hint: "Maximum number of attempts in flight. Empty: the service's value.",
    inputMode: "numeric",
  },
  retrySchedule: {
    label: "Retry schedule in seconds",
    hint: "Such as 5, 300, 1800. Empty: the service's schedule.",
  },
};

/** The fields that few need. */
const rate: FieldsData<EndpointInput> = {
  rateLimit: {
    label: "Rate limit",
    hint: "Empty: as fast as the receiver takes them.",
    inputMode: "numeric",
  },
  rateSeconds: {
    label: "Rate period",
    hint: "In seconds. Deliveries are spread evenly over it.",
    inputMode: "numeric",
  },
};

const named: FieldsData<EndpointInput> = {
  headers: ({ value, set }) => (
    <RowList
      legend="Headers of every delivery"
      noun="header"
      max={10}
      rows={value}
      set={set}
      blank={blankText}
      fields={(number, { secret }) => ({
        name: { label: `Name of header ${number}` },
        value: {
          label: `Value of header ${number}`,
          type: secret ? "password" : "text",
          placeholder: secret ? "Empty: unchanged" : "",
        },
        secret: { label: "hidden" },
      })}
    />
  ),
  metadata: ({ value, set }) => (
    <RowList
      legend="Metadata, not sent to receivers"
      noun="entry"
      max={20}
      rows={value}
      set={set}
      blank={blankText}
      fields={(number) => ({
        name: { label: `Name of entry ${number}` },
        value: { label: `Value of entry ${number}` },
      })}
    />
  ),
};

/** The certificate by which a receiver recognizes this deployment (mutual TLS). Its key is never shown. */
function Certificate({ present, ...form }: FieldsProps) {
  const shown = present?.settings.client_certificate ?? null;
  return (
    <Group legend="Client certificate">
      {shown && (
        <p>
          In use: {shown.subject}, expires <Time at={shown.expires_at} />. SHA-256 <code>{shown.fingerprint}</code>
        </p>
      )}
      <Fields
        {...form}
        fields={{
          isWithoutCertificate: shown !== null && { label: "Remove it" },
          certificate: {
            label: "Certificate with its chain",
            hint: shown ? "PEM. Empty: the current one stays." : "PEM.",
            rows: 3,
          },
          certificateKey: {
            label: "Private key",
            hint: "PEM without a passphrase. It is never shown again.",
            rows: 3,
          },
        }}
      />
    </Group>
  );
}
