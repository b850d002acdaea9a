import { CheckField, fieldsOf, type InputProps, SelectField, TextArea, TextField } from "../../parts/fields.tsx";
import parts from "../../parts/parts.module.css";
import { useChoosesEvents, useIsPortal, useMay } from "../../session/api.ts";
import type { Endpoint } from "../webhooks.ts";
import type { EndpointInput } from "./endpoint-input.ts";
import { MoreEndpointFields } from "./more-endpoint-fields.tsx";

interface FieldsProps extends InputProps<EndpointInput> {
  /** The endpoint as it is, for one that is edited. */
  readonly present?: Endpoint;
}

/** The fields of an endpoint, for a new one and for one that is edited. */
export function EndpointFields({ input, set, present }: FieldsProps) {
  const isPortal = useIsPortal();
  const choosesEvents = useChoosesEvents();
  const mayMove = useMay("account:security") || !isPortal;
  const field = fieldsOf(input, set);
  return (
    <>
      <TextField
        label="Address of your receiver"
        hint={mayMove ? "https, reachable from this deployment." : "This link does not change it."}
        type="url"
        required
        readOnly={!mayMove}
        spellCheck={false}
        {...field("url")}
      />
      <TextField label="Description" hint="For people; receivers do not see it." {...field("description")} />
      <TextArea
        label="Event types"
        hint={
          choosesEvents
            ? "One on each line. image.* is every type that begins with image., and * is every type."
            : "Those who gave you this link decide about them."
        }
        rows={3}
        required
        readOnly={!choosesEvents}
        spellCheck={false}
        {...field("eventTypes")}
      />
      <details>
        <summary>Filter and settings</summary>
        <div className={parts.page}>
          <Settings input={input} set={set} />
        </div>
      </details>
      <details>
        <summary>{isPortal ? "Rate and client certificate" : "Rate, headers, metadata and client certificate"}</summary>
        <div className={parts.page}>
          <MoreEndpointFields input={input} set={set} {...(present && { present })} />
        </div>
      </details>
    </>
  );
}

function Settings({ input, set }: FieldsProps) {
  const choosesEvents = useChoosesEvents();
  const field = fieldsOf(input, set);
  return (
    <>
      <TextArea
        label="Filter"
        hint="A JSON object that the data of an event has to match. Empty: every event of the types above."
        rows={5}
        spellCheck={false}
        readOnly={!choosesEvents}
        {...field("filter")}
      />
      <SelectField
        label="Format"
        hint="envelope has the id and the type around the data; original is the body as it was received."
        choices={["envelope", "original"]}
        {...field("format")}
      />
      <CheckField label="Keep the order of events with the same key" {...field("ordered")} />
      <TextField
        label="Time limit of an attempt in seconds"
        hint="Empty: that of the service."
        inputMode="numeric"
        {...field("timeoutSeconds")}
      />
      <TextField
        label="At the same time"
        hint="Largest number of attempts in flight. Empty: that of the service."
        inputMode="numeric"
        {...field("maxInFlight")}
      />
      <TextField
        label="Waits between tries in seconds"
        hint="As 5, 300, 1800. Empty: the schedule of the service."
        {...field("retrySchedule")}
      />
    </>
  );
}
