import { Button } from "../../parts/button.tsx";
import { Form } from "../../parts/form.tsx";
import { Id } from "../../parts/inline.tsx";
import { Curl } from "../../parts/lists.tsx";
import { Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { objectIn } from "../../parts/read-text.ts";
import { api, dataOf } from "../../session/api.ts";
import { EventDeliveriesLink } from "../links.tsx";

interface Typed {
  readonly type: string;
  readonly data: string;
}

async function publish({ type, data }: Typed) {
  const body = { type: type.trim(), data: objectIn(data, "Data") };
  const sent = { body, bodySerializer: () => eventText({ type, data }) };
  return (await dataOf(api.POST("/api/v1/webhooks/events", sent))).items[0];
}

/** Publishes one event of the account to all endpoints that want its type. */
export const PublishEvent = ({ type, onClose }: { readonly type: string; readonly onClose: () => void }) => (
  <Panel title="Publish an event" actions={<Button label="Close" onClick={onClose} />}>
    <Form
      what="event"
      submitLabel="Publish"
      kind="main"
      initial={{ type, data: '{\n  "hello": "world"\n}' }}
      fields={{
        type: { label: "Type", hint: "A name of your own, such as order.paid.", required: true },
        data: { label: "Data", hint: "A JSON object.", rows: 6 },
      }}
      run={publish}
      after={(typed, published) => (
        <>
          <div role="status">{published && <Published event={published} />}</div>
          <Curl method="POST" path="api/v1/webhooks/events" body={eventText(typed)} />
        </>
      )}
    />
  </Panel>
);

const Published = ({
  event: { id, warnings },
}: {
  readonly event: NonNullable<Awaited<ReturnType<typeof publish>>>;
}) => (
  <>
    <p>
      Published. <EventDeliveriesLink id={id}>See its deliveries</EventDeliveriesLink>
    </p>
    <Id value={id} />
    {warnings.map(({ pointer, message }) => (
      <p key={`${pointer} ${message}`} className={parts.wait}>
        <code>{pointer}</code> {message}
      </p>
    ))}
  </>
);

/** Writes the event with its data as they were typed: a printed number could be another. */
const eventText = ({ type, data }: Typed): string => `{"type":${JSON.stringify(type.trim())},"data":${data}}`;
